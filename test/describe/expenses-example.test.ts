import { expenses } from '../../examples/expenses/domain/domain.ts';
import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';

describeDomain(expenses, { file: 'examples/expenses/domain/domain.ts' });
