import { start } from '../../start.ts';

await start({ domain: async () => (await import('./budgets.ts')).budgets });
