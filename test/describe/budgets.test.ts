import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { budgets } from '../toy/budgets.ts';

describeDomain(budgets, { file: 'test/toy/budgets.ts' });
