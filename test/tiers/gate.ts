import { runTier } from './run-tier.ts';

await runTier('gate', 'Runs what every submission must pass.');
