import { expect } from 'vitest';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { test } from '../../test/engines/pool.ts';
import { digestOf } from './digest.ts';

test.beforeAll(({ pool }) =>
  pool.query(`
    create schema one;
    create table one.note (id bigint primary key, text text, at timestamptz, size integer generated always as (length(text)) stored);
    insert into one.note values (1, 'first', '2026-01-02T03:04:05Z'), (2, null, '2026-01-02T03:04:06Z');
    create table one.parked (stream text, parked_at timestamptz);
    insert into one.parked values ('article-1', now());
    create schema other;
    create table other.parked (parked_at timestamptz, stream text);
    insert into other.parked values ('-infinity', 'article-1');
    create table other.note (at timestamptz, dropped text, text text, id bigint);
    alter table other.note drop column dropped`),
);

const write = (pool: Pool, ...rows: readonly string[]) =>
  pool.query(`truncate other.note; insert into other.note (id, text, at) values ${rows.join(', ')}`);

test('tables with equal content have the same digest, whatever the order of rows and columns, and the time zone of the reader', async ({
  database,
  pool,
}) => {
  await write(pool, `(2, null, '2026-01-02T04:04:06+01')`, `(1, 'first', '2026-01-02T04:04:05+01')`);
  const digests = await digestOf(pool, 'one');
  expect(Object.keys(digests)).toEqual(['note', 'parked']);
  expect(await digestOf(pool, 'other')).toEqual(digests);
  await using elsewhere = openPool({
    url: database.url,
    applicationName: 'test',
    connectionsMax: 1,
    settings: { timezone: 'Asia/Tokyo' },
  });
  expect(await digestOf(elsewhere, 'one')).toEqual(digests);
});

test.for([
  [`(1, 'First', '2026-01-02T03:04:05Z')`, `(2, null, '2026-01-02T03:04:06Z')`],
  [`(1, 'first', '2026-01-02T03:04:05Z')`, `(2, '', '2026-01-02T03:04:06Z')`],
  [`(1, 'first', '2026-01-02T03:04:06Z')`, `(2, null, '2026-01-02T03:04:05Z')`],
  [`(1, 'first', '2026-01-02T03:04:05Z')`],
  [
    `(1, 'first', '2026-01-02T03:04:05Z')`,
    `(2, null, '2026-01-02T03:04:06Z')`,
    `(2, null, '2026-01-02T03:04:06Z')`,
  ],
])('tables that do not have another', async (rows, { pool }) => {
  await write(pool, ...rows);
  const [one, other] = [await digestOf(pool, 'one'), await digestOf(pool, 'other')];
  expect(other.parked).toBe(one.parked);
  expect(other.note).not.toBe(one.note);
});
