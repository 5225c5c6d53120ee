import { afterEach, beforeEach, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';
import {
  demandServedDomain,
  keepServedDomain,
  readServedDomain,
  renameServedDomain,
} from './served-domain.ts';

let database: TestDatabase;
let pool: Pool;
beforeEach(async () => {
  database = await createDatabase();
  pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 });
});
afterEach(async () => {
  await pool?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

test('a database remembers its domain, and refuses another with the remedy', async () => {
  await demandServedDomain(pool, publishing);
  expect(await readServedDomain(pool)).toBeUndefined();
  await keepServedDomain(pool, publishing);
  await keepServedDomain(pool, publishing);
  await expect(keepServedDomain(pool, helpdesk)).rejects.toThrow(
    'The data belongs to the domain publishing, but this is helpdesk: set DOMAIN_FILE to the file of publishing, or set DATA_DIR or DATABASE_URL to ' +
      'the data of helpdesk. If publishing was renamed to helpdesk, run `npm run annals -- domain rename publishing`.',
  );
  await expect(demandServedDomain(pool, helpdesk)).rejects.toThrow(
    'The data belongs to the domain publishing',
  );
});

test('of two concurrent starts on a new database one is refused', async () => {
  const outcomes = await Promise.allSettled([
    keepServedDomain(pool, publishing),
    keepServedDomain(pool, helpdesk),
  ]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('a renamed domain continues under its new name only', async () => {
  await keepServedDomain(pool, publishing);
  expect(await renameServedDomain(pool, { from: 'desk', to: 'helpdesk' })).toBe(false);
  expect(await renameServedDomain(pool, { from: 'publishing', to: 'helpdesk' })).toBe(true);
  await keepServedDomain(pool, helpdesk);
});

test('a read-only server can be read', async () => {
  await keepServedDomain(pool, publishing);
  await using reader = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
  await reader.query('set default_transaction_read_only = on');
  await keepServedDomain(reader, publishing);
});
