import type { Pool } from '#shared/database/pool.ts';
import { migrateProcessManager } from '../process-manager/process-manager.ts';

/** Lines that changed nothing. Run again, such a line might change what later lines have made of it. */
export type Passed = {
  readonly keys: ReadonlySet<string>;
  add(key: string): Promise<void>;
};

export const openPassed = async (pool: Pool): Promise<Passed> => {
  await migrateProcessManager(pool);
  const { rows } = await pool.query<{ key: string }>('select key from process_manager.import_passed');
  return {
    keys: new Set(rows.map(({ key }) => key)),
    add: async (key) =>
      void (await pool.query(
        'insert into process_manager.import_passed (key) values ($1) on conflict do nothing',
        [key],
      )),
  };
};
