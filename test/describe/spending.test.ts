import { spendingDomain } from '../toy/spending.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(spendingDomain, { file: 'test/toy/spending.ts' });
