import type pg from 'pg';
import { expect } from 'vitest';
import { test as base } from '../../test/engines/pool.ts';
import { PreparedRead } from './prepared-read.ts';

const test = base.extend(
  'read',
  { scope: 'file' },
  ({ pool }) =>
    async (name: string, text: string, values: readonly unknown[] = []) =>
      (await pool.query<object>(new PreparedRead<object>({ name, text }, values) as pg.QueryConfig)).rows,
);

const EVERYTHING = `select n.n as id, 'text ' || n.n as text, null::text as nothing, n.n > 1 as truth, 7::int8 as big, '{1,2}'::int8[] as bigs, 1.5::numeric as number,
  '{a,"b,c"}'::text[] as list, '2026-01-02'::date as day, '2026-01-02T03:04:05.678Z'::timestamptz as instant, '{"a":[1]}'::jsonb as json, $1::text as given
  from generate_series(1, 2) n (n)`;

test('its rows equal those of an ordinary query each time', async ({ pool, read }) => {
  const { rows: expected } = await pool.query(EVERYTHING, ['given']);
  for (let time = 0; time < 3; time += 1)
    expect(await read('everything', EVERYTHING, ['given'])).toEqual(expected);
  expect(await read('everything', EVERYTHING, [null])).toEqual(
    expected.map((row) => ({ ...row, given: null })),
  );
});

test('rows come as arrays on request, and no rows as an empty one', async ({ pool }) => {
  const text = 'select $1::int8, true where $1::int8 > 0';
  const connection = await pool.connect();
  const run = (value: number) =>
    new PreparedRead({ name: 'lists', text, rowMode: 'array' }, [value]).runOn(connection);
  try {
    expect([await run(0), await run(1), await run(0), await run(2)]).toEqual([
      [],
      [[1, true]],
      [],
      [[2, true]],
    ]);
  } finally {
    connection.release();
  }
});

test('a refused statement fails, and the next read does not', async ({ read }) => {
  const text = 'select 1 / $1::integer as one';
  for (let time = 0; time < 2; time += 1) {
    expect(await read('division', text, [1])).toEqual([{ one: 1 }]);
    await expect(read('division', text, [0])).rejects.toMatchObject({ code: '22012' });
  }
  await expect(read('unknown', 'select * from nothing_like_it')).rejects.toMatchObject({ code: '42P01' });
  await expect(read('unknown', 'select * from nothing_like_it')).rejects.toMatchObject({ code: '42P01' });
});

test('a value that cannot be held exactly fails as elsewhere, and the next read does not', async ({
  read,
}) => {
  const text = 'select $1::int8 as value';
  for (let time = 0; time < 2; time += 1) {
    await expect(read('large', text, ['9007199254740993'])).rejects.toThrow(RangeError);
    expect(await read('large', text, ['1'])).toEqual([{ value: 1 }]);
  }
});

test('a statement whose columns have changed fails once, and is then prepared again', async ({
  pool,
  read,
}) => {
  await pool.query(
    'create schema of_test; create table of_test.changing (one integer); insert into of_test.changing values (1)',
  );
  expect(await read('changing', 'select * from of_test.changing')).toEqual([{ one: 1 }]);
  await pool.query('alter table of_test.changing add column two text');
  await expect(read('changing', 'select * from of_test.changing')).rejects.toMatchObject({ code: '0A000' });
  expect(await read('changing', 'select * from of_test.changing')).toEqual([{ one: 1, two: null }]);
});

test('a read whose connection is ended fails', async ({ read }) => {
  const text = 'select pg_terminate_backend(pg_backend_pid())';
  await expect(read('ended', text)).rejects.toThrow();
  expect(await read('everything', EVERYTHING, ['given'])).toHaveLength(2);
});
