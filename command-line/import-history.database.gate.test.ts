import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { migrateLeases } from '#shared/database/lease/lease.ts';
import { takeLease } from '#shared/database/lease/take-lease.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { createDatabase } from '../test/engines/database.ts';
import { operate } from '../test/engines/installation.ts';
import { inEventStoreDB } from '../test/engines/log-engines.ts';
import { test as base } from '../test/engines/pool.ts';
import { helpdesk } from '../test/toy/helpdesk.ts';

const LINE = {
  ...{ key: 'u-1', at: '2020-01-01T00:00:00Z', command: 'user.register' },
  form: { name: 'Ada', role: 'customer' },
};

const CHECK = { options: ['--check'] };

const test = base.extend('importing', { scope: 'file' }, async ({ database }, { onCleanup }) => {
  const dataDir = await temporaryDataDir();
  onCleanup(() => dataDir[Symbol.asyncDispose]());
  const settings = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') };
  return async (lines: readonly object[], { options = [] as string[], place = {} } = {}) => {
    const file = join(dataDir.path, 'history.ndjson');
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    return operate(['import', file, ...options], { ...settings, ...place }, helpdesk);
  };
});

test('a second import beside the first is refused, and so is one beside Annals', async ({
  pool,
  importing,
}) => {
  await migrateLeases(pool);
  {
    await using _first = await takeLease(pool, 'import');
    await expect(importing([LINE])).rejects.toThrow('Another import runs: wait until it ends, or stop it.');
    expect(await importing([LINE], CHECK)).toContain('none is wrong. Nothing was imported.');
  }
  {
    await using _annals = await takeLease(pool, 'projector');
    await expect(importing([LINE])).rejects.toThrow('Annals runs: projector is active.');
  }
  expect(await importing([LINE])).toContain('1 lines were imported');
  // The next one does not wait for the lease of this one.
  expect(await importing([LINE])).toContain('1 were imported before');
});

test('an import writes to EventStoreDB, and continues there', async ({ importing }) => {
  await using log = await inEventStoreDB();
  await using database = await createDatabase();
  const place = { DATABASE_URL: database.url, EVENT_LOG_URL: log.url ?? '' };
  expect(await importing([LINE], { place })).toContain('1 lines were imported');
  const next = { ...LINE, key: 'u-2', form: { name: 'Bert', role: 'agent' } };
  expect(await importing([LINE, next], { place })).toContain('1 lines were imported, 1 were imported before');
});

test('an import silences no webhook about what happened before it', async ({ pool, importing }) => {
  await importing([LINE]);
  const { rows } = await pool.query(`select to_regclass('webhook_ledger.quiet') as quiet`);
  expect(rows).toEqual([{ quiet: null }]);
});

test('a rehearsal prints every wrong line, and exits with 1', async ({ importing }) => {
  const wrong = { ...LINE, key: 'u-2', form: { name: 'Bert', role: 'king' } };
  const rehearsal = importing([LINE, wrong, { ...wrong, key: 'u-3' }], CHECK);
  await expect(rehearsal).rejects.toThrow('2 of 3 lines are wrong. Nothing was imported.');
});
