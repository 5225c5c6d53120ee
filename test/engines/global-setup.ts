import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '#shared/database/embedded.ts';
import { temporaryDataDir } from './data-dir.ts';
import { startReaper } from './start-reaper.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server of this run; `createDatabase` makes each caller a database of its own in it. */
    readonly postgresUrl: string;
  }
}

/** Nothing here outlives the run, so nothing waits for the disk. */
const UNSAFE_BUT_FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // What it writes may lie in memory.
  max_wal_size: '256MB',
  // Each of three installations at once has ten processes.
  max_connections: '400',
};

/** Starts one PostgreSQL for the whole run and hands back how to stop it. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  // Vitest leaves without any teardown when it is told to stop by a signal.
  startReaper();
  await using opening = new AsyncDisposableStack();
  const dataDir = opening.use(await temporaryDataDir());
  const server = opening.use(await startEmbeddedPostgres({ dataDir: dataDir.path, settings: UNSAFE_BUT_FAST }));
  project.provide('postgresUrl', server.url);
  const resources = opening.move();
  return () => resources.disposeAsync();
};
