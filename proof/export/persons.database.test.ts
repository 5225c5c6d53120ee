import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { exportPlace } from '#shared/erasure/exports.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { test } from '../../test/engines/pool.ts';
import { exportPersons, personFrom } from './persons.ts';

test('an export has no key that is destroyed while it is written', async ({ pool }) => {
  const [leaving, staying] = [1 as UserId, 2 as UserId];
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  for (const userId of [leaving, staying]) await keys.obtain(userId);
  await using folder = await temporaryDataDir();
  /** The keys have been read, and are not written yet. */
  const query = async (text: string, values?: unknown[]) => {
    const answer = await pool.query(text, values);
    if (text.includes('wrapped')) await keys.destroy(leaving);
    return answer;
  };
  const { keys: count } = (await exportPersons({ query } as Pick<Pool, 'query'>, folder.path)) ?? {};
  expect(count).toBe(2);
  const lines = (await readFile(join(folder.path, 'persons.jsonl'), 'utf8')).trim().split('\n');
  expect(lines.map(personFrom)).toEqual([
    { subject: leaving, wrapped: null, destroyedAt: expect.any(String) },
    { subject: staying, wrapped: expect.any(String), destroyedAt: null },
  ]);
  expect(await exportPlace(folder.path, leaving)).toMatchObject({ verdict: 'erased', left: 0 });
});
