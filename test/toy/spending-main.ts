import { start } from '../../start.ts';
import { spendingDomain } from './spending.ts';

await start({ domain: async () => spendingDomain });
