import { lending } from '../toy/lending.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(lending, { file: 'test/toy/lending.ts' });
