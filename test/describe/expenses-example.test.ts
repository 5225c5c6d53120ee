import { expenses } from '../../examples/expenses/domain/domain.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(expenses, { file: 'examples/expenses/domain/domain.ts' });
