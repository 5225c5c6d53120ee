import { runTier } from './run-tier.ts';

await runTier('all', 'Runs every test, step by step.');
