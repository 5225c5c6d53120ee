import { budgets } from '../toy/budgets.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(budgets, { file: 'test/toy/budgets.ts' });
