import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { publishingWithCollections } from '../toy/collections.ts';

describeDomain(publishingWithCollections, { file: 'test/toy/collections.ts' });
