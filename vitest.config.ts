import { defineConfig } from 'vitest/config';

/** One PostgreSQL server for the whole run; every test file makes its own database in it. */
const onPostgres = { globalSetup: ['test/engines/global-setup.ts'] };
const roles = '{command,projector,query,auth,webhook-dispatcher,command-line,shared}';

export default defineConfig({
  test: {
    // Most tests wait for servers rather than for the processor, so more of them run at once than there are cores.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      { test: { name: 'unit', include: [`${roles}/**/*.test.ts`, 'test/*.test.ts'], exclude: ['**/*.database.test.ts'] } },
      {
        test: {
          name: 'contracts',
          include: ['test/contracts/**/*.test.ts', `${roles}/**/*.database.test.ts`],
          ...onPostgres,
          testTimeout: 60_000,
        },
      },
      { test: { name: 'e2e', include: ['test/{e2e,chaos}/**/*.test.ts'], ...onPostgres, testTimeout: 120_000 } },
    ],
  },
});
