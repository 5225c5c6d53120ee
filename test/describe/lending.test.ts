import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { lending } from '../toy/lending.ts';

describeDomain(lending, { file: 'test/toy/lending.ts' });
