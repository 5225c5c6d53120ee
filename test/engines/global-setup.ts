import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { temporaryDataDir } from './data-dir.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { startReaper } from './start-reaper.ts';
import { startSystemPostgres } from './system-postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Its name. */
    readonly project: string;
    /** The server of this run; `createDatabase` makes databases in it. */
    readonly postgresUrl: string;
    /** The address of the databases of tests: the server itself, or PgBouncer before it. */
    readonly databasesUrl: string;
  }
}

/** Nothing here outlives the run, so nothing waits for the disk. */
const UNSAFE_BUT_FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Its files may be in memory.
  max_wal_size: '256MB',
  // Three installations at once have ten processes each.
  max_connections: '400',
};

/**
 * The server of the run: the embedded PostgreSQL, or the one whose programs are in the folder that
 * TEST_POSTGRES_BIN names, for example /usr/lib/postgresql/15/bin.
 */
const startServer = async (opening: AsyncDisposableStack): Promise<{ readonly url: string }> => {
  const bin = process.env.TEST_POSTGRES_BIN;
  if (bin === undefined) {
    const dataDir = opening.use(await temporaryDataDir());
    return opening.use(await startEmbeddedPostgres({ dataDir: dataDir.path, settings: UNSAFE_BUT_FAST }));
  }
  const server = opening.use(await startSystemPostgres({ bin, settings: UNSAFE_BUT_FAST }));
  await server.start();
  await server.createDatabase();
  return server;
};

/**
 * TEST_PGBOUNCER names the mode of a PgBouncer before it, for everything that tests do in databases of their
 * own.
 */
const poolBefore = async (url: string, opening: AsyncDisposableStack): Promise<string> => {
  const mode = process.env.TEST_PGBOUNCER;
  if (mode === undefined) return url;
  if (mode !== 'session' && mode !== 'transaction')
    throw new Error(`TEST_PGBOUNCER is session or transaction, not ${mode}`);
  return opening.use(await startPgBouncer(url, mode)).through(url);
};

/** Starts one PostgreSQL for the whole run and returns its stop function. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  // Vitest exits without any teardown on a signal.
  startReaper();
  await using opening = new AsyncDisposableStack();
  const server = await startServer(opening);
  project.provide('project', project.name);
  project.provide('postgresUrl', server.url);
  project.provide('databasesUrl', await poolBefore(server.url, opening));
  const resources = opening.move();
  return () => resources.disposeAsync();
};
