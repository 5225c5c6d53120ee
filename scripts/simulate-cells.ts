import { tables } from './cells/tables.ts';

/**
 * `npm run simulate-cells` prints the tables of docs/scaling.md about cells: tenants of very different sizes
 * in 100 cells, and their costs. The figures are in scripts/cells/figures.ts.
 */
process.stdout.write(`${tables().join('\n\n')}\n`);
