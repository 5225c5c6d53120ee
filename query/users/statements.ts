import type { Pool } from '#shared/database/pool.ts';
import { clausesOf, type Walk } from '../lists/walk.ts';
import { createFinder, Parameters, runShared } from '../statement.ts';
import type { UserRow } from './representation.ts';

const COLUMNS = 't.id, t.version, t.name, t.email, t.role, t.created_at, t.updated_at';

/** Those who were deleted left a row without a person. */
export const findUsers = createFinder<UserRow>(
  (condition) => `select ${COLUMNS} from read_model.users t where ${condition} and t.deleted_at is null`,
);

export const listUsers = async (pool: Pool, walk: Walk<'created_at'>): Promise<readonly UserRow[]> => {
  const parameters = new Parameters();
  const { where, order } = clausesOf(walk, parameters);
  const conditions = ['t.deleted_at is null', ...(where === undefined ? [] : [where])].join(' and ');
  return runShared<UserRow>(pool, `select ${COLUMNS} from read_model.users t where ${conditions} ${order}`, parameters.values);
};
