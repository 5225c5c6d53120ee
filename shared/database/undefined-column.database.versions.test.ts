import { expect } from 'vitest';
import { test } from '../../test/engines/pool.ts';
import { isUndefined, isUndefinedColumn } from './failures.ts';

test.for(['title', 'count', 'max', 'array_agg'])(
  'a column %s that the table does not have yet is undefined, whatever functions have its name',
  async (column, { pool }) => {
    await pool.query('create table if not exists public.item (id int primary key, state text)');
    for (const text of [
      `select t.id, t.${column} from public.item t`,
      `select t.id from public.item t where t.${column} = 'x'`,
      `select t.id from public.item t order by t.${column}`,
    ]) {
      const error: unknown = await pool.query(text).catch((cause: unknown) => cause);
      expect([isUndefinedColumn(error), isUndefined(error)], text).toEqual([true, true]);
    }
  },
);
