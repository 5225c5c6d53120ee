import { publishing } from '#domain/publishing.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openPool } from '#shared/database/pool.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { test as base } from './pool.ts';

/** A read model for each file, with the `rows` of statements in SQL, and by default one connection. */
export const test = base
  .extend('domain', { scope: 'file' }, publishing as Domain)
  .extend('rows', { scope: 'file' }, '')
  .extend('connectionsMax', { scope: 'file' }, 1)
  .extend('pool', { scope: 'file' }, async ({ connectionsMax, database, domain, rows }, { onCleanup }) => {
    const pool = openPool({ url: database.url, applicationName: 'test', connectionsMax });
    onCleanup(() => pool[Symbol.asyncDispose]());
    await createReadModel(pool, tablesOf(domain), 'read_model');
    await pool.query(rows);
    return pool;
  });
