import { expenses } from '../toy/expenses.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(expenses, { file: 'test/toy/expenses.ts' });
