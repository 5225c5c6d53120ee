import type { UserId } from '#shared/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

export type FirstMinuteMark = { readonly author: UserId | null };

export const migrateFirstMinute = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-first-minute', new URL('./first-minute-migrations/', import.meta.url));

export const selectMark = async (pool: Pool): Promise<FirstMinuteMark | undefined> => {
  const { rows } = await pool.query<FirstMinuteMark>('select author from auth.first_minute');
  return rows[0];
};

/** An author who is known stays known. */
export const writeMark = async (pool: Pool, { author }: FirstMinuteMark): Promise<void> => {
  await pool.query(
    `insert into auth.first_minute as known (author) values ($1)
     on conflict (only_row) do update set author = coalesce(excluded.author, known.author)`,
    [author],
  );
};

export const deleteMark = async (pool: Pool): Promise<void> => {
  await pool.query('delete from auth.first_minute');
};
