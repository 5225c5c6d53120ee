import { test as base } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { createDatabase } from './database.ts';

/** A database for each file, with one connection: queries see the session state that earlier ones left. */
export const test = base
  .extend('databaseOptions', { scope: 'file' }, {} as Parameters<typeof createDatabase>[0])
  .extend('database', { scope: 'file' }, async ({ databaseOptions }, { onCleanup }) => {
    const database = await createDatabase(databaseOptions);
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  })
  .extend('pool', { scope: 'file' }, ({ database }, { onCleanup }) => {
    const pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
    onCleanup(() => pool[Symbol.asyncDispose]());
    return pool;
  });
