import { createSecretKey, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import type { UserId } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { SealBroken, seal, unseal } from '#shared/keys/seal.ts';
import { DEVELOPMENT_ADMIN as CLIENT_ID } from './clients/built-in.ts';

type FirstMinuteMark = { readonly author: UserId | null };

export const migrateFirstMinute = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-first-minute', new URL('./first-minute-migrations/', import.meta.url));

export const selectMark = async (pool: Pool): Promise<FirstMinuteMark | undefined> => {
  const { rows } = await pool.query<FirstMinuteMark>('select author from auth.first_minute');
  return rows[0];
};

/** Never overwrites a known author with null. */
export const writeMark = async (pool: Pool, { author }: FirstMinuteMark): Promise<void> => {
  await pool.query(
    `insert into auth.first_minute as known (author) values ($1)
     on conflict (only_row) do update set author = coalesce(excluded.author, known.author)`,
    [author],
  );
};

export const Access = z.object({ secret: z.string(), password: z.string() });
export type Access = z.infer<typeof Access>;
type Sealing = { readonly pool: Pool; readonly masterKey: MasterKey };

const keyOf = ({ masterKey }: Sealing): KeyObject => createSecretKey(deriveKey(masterKey, 'first-minute'));

/** Undefined if there is none, or none that this master key opens. */
export const selectShared = async (sealing: Sealing): Promise<Access | undefined> => {
  const { rows } = await sealing.pool.query<{ sealed: Buffer | null }>(
    'select sealed from auth.first_minute',
  );
  const sealed = rows[0]?.sealed ?? undefined;
  if (sealed === undefined) return undefined;
  try {
    return Access.parse(JSON.parse(unseal(keyOf(sealing), sealed, CLIENT_ID).toString()));
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    return undefined;
  }
};

export const updateShared = async (sealing: Sealing, access: Access): Promise<void> => {
  const sealed = seal(keyOf(sealing), Buffer.from(JSON.stringify(access)), CLIENT_ID);
  await sealing.pool.query('update auth.first_minute set sealed = $1', [sealed]);
};

export const deleteMark = async (pool: Pool): Promise<void> => {
  await pool.query('delete from auth.first_minute');
};
