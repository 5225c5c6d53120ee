import { start } from '../../start.ts';
import { expenses } from './expenses.ts';

await start({ domain: async () => expenses });
