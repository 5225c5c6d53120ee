import { publishingWithCollections } from '../toy/collections.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(publishingWithCollections, { file: 'test/toy/collections.ts' });
