import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { test } from '../engines/installation-fixture.ts';

/** Statements of the start end with the first rounds of its verifications, so that it asks more than later on. */
const STATEMENTS_MAX_PER_S = 5;
const REST_S = 20;
const WATCHED_S = 20;

// Elapsed time is what the test is about, so that it cannot wait for a condition.
test('an installation that nobody uses asks the database a few times a second', async ({
  installation,
  ada,
}) => {
  expect(ada.token).not.toBe('');
  await using pool = openPool({
    url: String(installation.settings.DATABASE_URL),
    applicationName: 'watching',
    connectionsMax: 1,
  });
  const transactions = async (): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(
      `select (xact_commit + xact_rollback)::integer as count from pg_stat_database where datname = current_database()`,
    );
    return rows[0]?.count ?? 0;
  };
  await delay(REST_S * 1_000);
  const before = await transactions();
  await delay(WATCHED_S * 1_000);
  expect(((await transactions()) - before) / WATCHED_S).toBeLessThan(STATEMENTS_MAX_PER_S);
});
