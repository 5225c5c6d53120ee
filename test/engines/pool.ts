import { test as base } from 'vitest';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { createDatabase } from './database.ts';
import { inTheDatabase } from './log-engines.ts';

/**
 * A database for each file, by default with one connection: queries see the session state that earlier ones
 * left. Tests may ask for an event log, by default in this database.
 */
export const test = base
  .extend('databaseOptions', { scope: 'file' }, {} as Parameters<typeof createDatabase>[0])
  .extend('database', { scope: 'file' }, async ({ databaseOptions }, { onCleanup }) => {
    const database = await createDatabase(databaseOptions);
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  })
  .extend('connectionsMax', { scope: 'file' }, 1 as number)
  .extend('pool', { scope: 'file' }, ({ connectionsMax, database }, { onCleanup }) => {
    const pool = openPool({ url: database.url, applicationName: 'test', connectionsMax });
    onCleanup(() => pool[Symbol.asyncDispose]());
    return pool;
  })
  .extend('startLog', { scope: 'file' }, () => inTheDatabase)
  .extend('logServer', { scope: 'file' }, async ({ startLog }, { onCleanup }) => {
    const server = await startLog();
    onCleanup(() => server[Symbol.asyncDispose]());
    return server;
  })
  .extend('eventLog', { scope: 'file' }, async ({ database, logServer }, { onCleanup }) => {
    const eventLog = await openEventLog({ url: logServer.url ?? database.url, clock: REAL_TIME });
    onCleanup(() => eventLog[Symbol.asyncDispose]());
    return eventLog;
  });
