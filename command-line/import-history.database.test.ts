import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { migrateLeases } from '#shared/database/lease/lease.ts';
import { takeLease } from '#shared/database/lease/take-lease.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { operate } from '../test/engines/installation.ts';
import { test as base } from '../test/engines/pool.ts';
import { helpdesk } from '../test/toy/helpdesk.ts';

const LINE = {
  ...{ key: 'u-1', at: '2020-01-01T00:00:00Z', command: 'user.register' },
  form: { name: 'Ada', role: 'customer' },
};

const test = base.extend('importing', { scope: 'file' }, async ({ database }, { onCleanup }) => {
  const dataDir = await temporaryDataDir();
  onCleanup(() => dataDir[Symbol.asyncDispose]());
  const settings = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') };
  return async (lines: readonly object[], ...options: string[]) => {
    const file = join(dataDir.path, 'history.ndjson');
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    return operate(['import', file, ...options], settings, helpdesk);
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
    expect(await importing([LINE], '--check')).toContain('none is wrong. Nothing was imported.');
  }
  {
    await using _annals = await takeLease(pool, 'projector');
    await expect(importing([LINE])).rejects.toThrow('Annals runs: projector is active.');
  }
  expect(await importing([LINE])).toContain('1 lines were imported');
  // The next one does not wait for the lease of this one.
  expect(await importing([LINE])).toContain('1 were imported before');
});

test('a rehearsal prints every wrong line, and exits with 1', async ({ importing }) => {
  const wrong = { ...LINE, key: 'u-2', form: { name: 'Bert', role: 'king' } };
  const rehearsal = importing([LINE, wrong, { ...wrong, key: 'u-3' }], '--check');
  await expect(rehearsal).rejects.toThrow('2 of 3 lines are wrong. Nothing was imported.');
});
