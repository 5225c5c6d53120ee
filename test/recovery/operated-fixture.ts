import { createDatabase } from '../engines/database.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { startSystemPostgres } from '../engines/system-postgres.ts';
import { askAs, operate } from './operated.ts';

/** A database with the environment of its operator. Each file says which installation starts on it. */
export const test = base
  .extend('openDatabase', { scope: 'file' }, () => createDatabase)
  .extend('database', { scope: 'file' }, async ({ openDatabase }, { onCleanup }) => {
    const database = await openDatabase();
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  })
  .extend('operated', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const operated = await operate(database.url);
    onCleanup(() => operated[Symbol.asyncDispose]());
    return operated;
  })
  .extend('asking', { scope: 'file' }, ({ installation }) => askAs(installation));

/** The same on a server of its own, which a test may destroy. */
export const testOnServer = test
  .extend('openPostgres', { scope: 'file' }, () => startSystemPostgres)
  .extend('postgres', { scope: 'file' }, async ({ openPostgres }, { onCleanup }) => {
    const postgres = await openPostgres();
    onCleanup(() => postgres[Symbol.asyncDispose]());
    await postgres.start();
    await postgres.createDatabase();
    return postgres;
  })
  .extend('operated', { scope: 'file' }, async ({ postgres }, { onCleanup }) => {
    const operated = await operate(postgres.url);
    onCleanup(() => operated[Symbol.asyncDispose]());
    return operated;
  });
