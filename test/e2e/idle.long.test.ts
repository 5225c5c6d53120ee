import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { until } from '../../testing/until.ts';
import { test } from '../engines/installation-fixture.ts';

const STATEMENTS_MAX_PER_S = 5;
const WATCHED_S = 20;
/** The first rounds of the verifications after a start ask more, and take longer on a busy machine. */
const REST_MAX_MS = 120_000;

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
  const watch = async (): Promise<number> => {
    const before = await transactions();
    await delay(WATCHED_S * 1_000);
    return ((await transactions()) - before) / WATCHED_S;
  };
  await until(watch, (perSecond) => perSecond < STATEMENTS_MAX_PER_S, REST_MAX_MS);
});
