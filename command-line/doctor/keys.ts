import { join } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '#shared/database/pool.ts';
import { spanText } from '#shared/format.ts';
import { MasterKeyMismatch } from '#shared/keys/key-store.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { type Diagnosis, type Examined, fail, isThere, ok, refusal, warn } from './diagnosis.ts';

/** Checks the master key, and the keys that sign tokens. */
export const keys = async (pool: Pool, examined: Examined): Promise<readonly Diagnosis[]> => [
  await masterKey(pool, examined),
  ...(await signingKeys(pool, examined)),
];

const masterKey = async (pool: Pool, { config }: Examined): Promise<Diagnosis> => {
  const path = join(config.dataDir, 'master.key');
  if (config.masterKey === undefined && !(await isThere(path)))
    return fail(
      `There is no MASTER_KEY, and no ${path}.`,
      'set the key that the data was encrypted with: personal data cannot be read without it.',
    );
  if (!(await hasTable(pool, 'public.master_key_check'))) return ok('No data was encrypted yet.');
  try {
    await using _keys = await openPostgresKeyStore({ pool, masterKey: await openMasterKey(config) });
    return ok(
      `The master key of ${config.masterKey === undefined ? path : 'MASTER_KEY'} matches the data: keep a copy of it elsewhere.`,
    );
  } catch (error) {
    if (error instanceof MasterKeyMismatch)
      return fail('MASTER_KEY does not match the data.', 'set the key that the data was encrypted with.');
    if (error instanceof StartRefused) return refusal(error.message);
    throw error;
  }
};

const hasTable = async (pool: Pool, table: string): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>('select to_regclass($1) is not null as "isThere"', [
    table,
  ]);
  return rows[0]?.isThere === true;
};

const YEAR_S = 365 * 86_400;

const signingKeys = async (pool: Pool, { config }: Examined): Promise<readonly Diagnosis[]> => {
  const isMade = await hasTable(pool, 'auth.signing_key');
  const { rows } = isMade
    ? await pool.query<{ ageS: number | null }>(
        `select extract(epoch from clock_timestamp() - max(signs_from))::float8 as "ageS" from auth.signing_key`,
      )
    : { rows: [] };
  const ageS = rows[0]?.ageS ?? undefined;
  if (ageS === undefined) {
    return config.environment === 'production'
      ? [fail('There is no key to sign tokens with.', 'create one: npm run annals -- keys rotate --first')]
      : [ok('The first start creates the key to sign tokens with.')];
  }
  const says = `The newest key that signs tokens is ${spanText(Math.max(0, ageS))} old.`;
  return [ageS > YEAR_S ? warn(says, 'replace it once a year: npm run annals -- keys rotate') : ok(says)];
};
