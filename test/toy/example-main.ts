import { expenses } from '../../examples/expenses/domain/domain.ts';
import { start } from '../../start.ts';

await start({ domain: async () => expenses });
