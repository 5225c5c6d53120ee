import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { expenses } from '../toy/expenses.ts';

describeDomain(expenses, { file: 'test/toy/expenses.ts' });
