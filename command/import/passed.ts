import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** Lines that changed nothing. Run again, such a line might change what later lines have made of it. */
export type Passed = {
  readonly keys: ReadonlySet<string>;
  add(key: string): Promise<void>;
};

export const openPassed = async (pool: Pool): Promise<Passed> => {
  await migrate(pool, 'import', new URL('./migrations/', import.meta.url));
  const { rows } = await pool.query<{ key: string }>('select key from public.import_passed');
  return {
    keys: new Set(rows.map(({ key }) => key)),
    add: async (key) =>
      void (await pool.query('insert into public.import_passed (key) values ($1) on conflict do nothing', [
        key,
      ])),
  };
};
