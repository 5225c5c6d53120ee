import type pg from 'pg';
import type { UserId } from '#kernel/base/brands.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import { MasterKeyMismatch } from '../key-store.ts';
import type { MasterKey } from '../master-key.ts';
import { createKeyWrap } from './key-wrap.ts';

type KeyRow = { readonly subject: UserId; readonly wrapped: Buffer | null };

export const selectKeys = async (pool: pg.Pool, subjects: readonly UserId[]): Promise<readonly KeyRow[]> => {
  const { rows } = await pool.query<KeyRow>({
    name: 'select-person-keys',
    text: 'select subject, wrapped from public.person_key where subject = any($1::bigint[])',
    values: [subjects],
  });
  return rows;
};

/**
 * The row of a person, created with the given key if there is none: the first writer wins. Undefined if
 * another process was first at the same moment, whose row this statement cannot see yet; the next one does.
 */
export const obtainKey = async (
  pool: pg.Pool,
  subject: UserId,
  wrapped: Buffer,
): Promise<KeyRow | undefined> => {
  const { rows } = await pool.query<KeyRow>({
    name: 'obtain-person-key',
    text: `with present as (select subject, wrapped from public.person_key where subject = $1),
      made as (
        insert into public.person_key (subject, wrapped) select $1, $2 where not exists (select from present)
        on conflict (subject) do nothing
        returning subject, wrapped
      )
      select subject, wrapped from present union all select subject, wrapped from made`,
    values: [subject, wrapped],
  });
  return rows[0];
};

/** Also marks a person who has no key here, such as after the restore of an older backup. */
export const destroyKey = async (pool: Pick<pg.Pool, 'query'>, subject: UserId): Promise<void> => {
  await pool.query(
    `insert into public.person_key (subject, wrapped, destroyed_at) values ($1, null, now())
     on conflict (subject) do update set wrapped = null, destroyed_at = now() where person_key.destroyed_at is null`,
    [subject],
  );
};

/** The persons whose key was destroyed, and when. */
export const selectDestroyed = async (
  pool: Pick<pg.Pool, 'query'>,
): Promise<readonly { readonly subject: UserId; readonly destroyedAt: Date }[]> => {
  const { rows } = await pool.query<{ subject: UserId; destroyedAt: Date }>(
    'select subject, destroyed_at as "destroyedAt" from public.person_key where destroyed_at is not null order by destroyed_at',
  );
  return rows;
};

/** When a person’s key was destroyed, if it was; undefined for a person who never had one. */
export const selectKeyState = async (
  pool: Pick<pg.Pool, 'query'>,
  subject: UserId,
): Promise<{ readonly destroyedAt: Date | null } | undefined> => {
  const { rows } = await pool.query<{ destroyedAt: Date | null }>(
    'select destroyed_at as "destroyedAt" from public.person_key where subject = $1',
    [subject],
  );
  return rows[0];
};

/** Whether this database has the key of anybody. */
export const hasLivingKey = async (pool: Pick<pg.Pool, 'query'>): Promise<boolean> => {
  const { rows } = await pool.query('select from public.person_key where wrapped is not null limit 1');
  return rows.length > 0;
};

/** The persons who have no key here, and whose key was not destroyed either. */
export const selectWithoutKey = async (
  pool: Pick<pg.Pool, 'query'>,
  subjects: readonly UserId[],
): Promise<readonly UserId[]> => {
  const { rows } = await pool.query<{ subject: UserId }>(
    `select subject from unnest($1::bigint[]) subject
     where not exists (select from public.person_key where person_key.subject = subject.subject) order by subject`,
    [subjects],
  );
  return rows.map(({ subject }) => subject);
};

/** The check value of this database: the given one, if there was none yet. */
export const settleCheckValue = async (pool: pg.Pool, wrapped: Buffer): Promise<Buffer | undefined> => {
  await pool.query('insert into public.master_key_check (wrapped) values ($1) on conflict do nothing', [
    wrapped,
  ]);
  const { rows } = await pool.query<{ wrapped: Buffer }>('select wrapped from public.master_key_check');
  return rows[0]?.wrapped;
};

/** Whether the keys of the database were written with this master key; undefined if there are none yet. */
export const isKeyOf = async (
  pool: Pick<pg.Pool, 'query'>,
  masterKey: MasterKey,
): Promise<boolean | undefined> => {
  try {
    const { rows } = await pool.query<{ wrapped: Buffer }>('select wrapped from public.master_key_check');
    const [row] = rows;
    if (row === undefined) return undefined;
    createKeyWrap(masterKey).check(row.wrapped);
    return true;
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    if (error instanceof MasterKeyMismatch) return false;
    throw error;
  }
};
