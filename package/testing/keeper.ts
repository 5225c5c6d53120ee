import { setTimeout as delay } from 'node:timers/promises';
import './dispose.ts';
import pg from 'pg';
import { startEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { DataDirInUse } from '#adapters/embedded-postgres/errors.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { KEPT } from './kept.ts';

// Keeps the PostgreSQL of a user's tests in a process of its own, and stops it once no test has used it for a
// while.

/** Losing the data is harmless, so nothing waits for the disk. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  max_connections: '400',
};
const LOOK_MS = 500;

const keep = async (dataDir: string, idleMaxMs: number): Promise<void> => {
  await using server = await startEmbeddedPostgres({ dataDir, settings: SETTINGS });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  // When the server ends, the keeper's next query fails, and it ends too.
  client.on('error', () => {});
  try {
    await untilIdle(client, idleMaxMs);
  } finally {
    await client.end();
  }
};

/**
 * A test that comes after the last check waits for the lock until the server has stopped; then it starts a
 * new one.
 */
const untilIdle = async (client: pg.Client, idleMaxMs: number): Promise<void> => {
  let idleSince = performance.now();
  for (;;) {
    const { rows } = await client.query<{ isIdle: boolean }>('select pg_try_advisory_lock($1) as "isIdle"', [
      KEPT,
    ]);
    if (rows[0]?.isIdle) {
      if (performance.now() - idleSince >= idleMaxMs) return;
      await client.query('select pg_advisory_unlock($1)', [KEPT]);
    } else idleSince = performance.now();
    await delay(LOOK_MS);
  }
};

const [dataDir = '', idleMaxMs = ''] = process.argv.slice(2);
try {
  await keep(dataDir, Number(idleMaxMs));
} catch (error) {
  // Another keeper was faster.
  if (error instanceof DataDirInUse) process.exit(0);
  process.stderr.write(error instanceof StartRefused ? error.message : String(error));
  process.exit(1);
}
