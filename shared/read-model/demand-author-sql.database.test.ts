import { afterAll, beforeAll, expect, test } from 'vitest';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, ref } from '#kernel/declare/fields.ts';
import { assemble } from '#kernel/registry/assemble.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { workshop } from '../../test/toy/workshop.ts';
import { demandAuthorSql } from './demand-author-sql.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
});
afterAll(async () => {
  await pool?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const shop = domain({ name: 'shop', roles: ['seller'] });
const withSql = (expression: string, filter = 'true') =>
  assemble(shop, [
    shop.aggregate('note', {
      owner: 'writer',
      fields: { writer: ref(shop.user), title: line(20), pages: integer(1, 9) },
      events: { written: { creates: ['title', 'pages'] } },
      commands: { jot: { emits: 'written' } },
      rights: { read: { anyone: true } },
      expressions: { shown: { type: 'Int', sql: ({ title }) => expression.replace('TITLE', title), value: () => 1 } },
      filters: {
        most: { takes: 'Int', sql: ({ pages }, most) => filter.replace('PAGES', pages).replace('MOST', most), holds: () => true },
      },
    }),
  ]);

test('what PostgreSQL understands passes, on a database without tables', async () => {
  await demandAuthorSql(pool, workshop);
  await demandAuthorSql(pool, withSql('length(TITLE)', 'PAGES < MOST'));
});

test.each([
  [
    'a column that is not there',
    'length(t.titel)',
    'true',
    'the expression shown is nothing that PostgreSQL understands, “column t.titel does not exist”',
  ],
  [
    'a wrong type',
    'TITLE + 1',
    'true',
    'the expression shown is nothing that PostgreSQL understands, “operator does not exist: text + integer',
  ],
  [
    'another function',
    'lengthh(TITLE)',
    'true',
    'the expression shown is nothing that PostgreSQL understands, “function lengthh(text) does not exist',
  ],
  ['half an expression', 'length(TITLE', 'true', 'the expression shown is nothing that PostgreSQL understands, “syntax error'],
  [
    'a condition that is none',
    '1',
    'PAGES + MOST',
    'the filter most is nothing that PostgreSQL understands, “argument of WHERE must be type boolean',
  ],
])('%s is refused with the place', async (_, expression, filter, sentence) => {
  await expect(demandAuthorSql(pool, withSql(expression, filter))).rejects.toThrow(`note: ${sentence}`);
});
