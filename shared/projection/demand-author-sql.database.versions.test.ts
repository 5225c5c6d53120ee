import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, ref } from '#kernel/declare/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { test } from '../../test/engines/pool.ts';
import { workshop } from '../../test/toy/workshop.ts';
import { tablesOf } from '../read-model/tables.ts';
import { demandAuthorSql } from './demand-author-sql.ts';
import { createReadModel } from './schema.ts';

const shop = domain({ name: 'shop', roles: ['seller'] });
const withSql = (expression: string, filter = 'true') =>
  assemble(shop, [
    shop.aggregate('note', {
      owner: 'writer',
      fields: { writer: ref(shop.user), title: line(20), pages: integer(1, 9) },
      events: { written: { creates: ['title', 'pages'] } },
      commands: { jot: { emits: 'written' } },
      rights: { read: { anyone: true } },
      expressions: {
        shown: { type: 'Int', sql: ({ title }) => expression.replace('TITLE', title), value: () => 1 },
      },
      filters: {
        most: {
          takes: 'Int',
          sql: ({ pages }, most) => filter.replace('PAGES', pages).replace('MOST', most),
          holds: () => true,
        },
      },
    }),
  ]);

const withRoute = (sql: string) => {
  const [note] = [withSql('1')];
  return {
    ...note,
    routes: [
      {
        name: 'summarize',
        path: '/summary',
        says: 'Notes',
        right: 'note.read',
        takes: {},
        gives: { notes: integer(0, 9).def },
        text: sql,
        given: [],
      },
    ],
  };
};

test('a route is checked once its tables exist', async ({ pool }) => {
  const [right, column, name] = [
    'select count(*) as notes from read_model.notes',
    'select titel as notes from read_model.notes',
    'select 1 as note',
  ].map(withRoute);
  for (const each of [right, column, name]) await demandAuthorSql(pool, each as Domain);
  await createReadModel(pool, tablesOf(right as Domain), LIVE_SCHEMA);
  await demandAuthorSql(pool, right as Domain);
  await expect(demandAuthorSql(pool, column as Domain)).rejects.toThrow(
    'the route summarize is not valid SQL, “column "titel" does not exist”: correct its `sql`.',
  );
  await expect(demandAuthorSql(pool, name as Domain)).rejects.toThrow(
    'the route summarize gives notes, which its statement does not select: add `as "notes"` to its `sql`.',
  );
});

test('valid SQL passes, on a database without tables', async ({ pool }) => {
  await demandAuthorSql(pool, workshop);
  await demandAuthorSql(pool, withSql('length(TITLE)', 'PAGES < MOST'));
});

test.for<[string, string, string, string]>([
  [
    'a column that is not there',
    'length(t.titel)',
    'true',
    'the expression shown is not valid SQL, “column t.titel does not exist”',
  ],
  [
    'a wrong type',
    'TITLE + 1',
    'true',
    'the expression shown is not valid SQL, “operator does not exist: text + integer',
  ],
  [
    'another function',
    'lengthh(TITLE)',
    'true',
    'the expression shown is not valid SQL, “function lengthh(text) does not exist',
  ],
  ['half an expression', 'length(TITLE) +', 'true', 'the expression shown is not valid SQL, “syntax error'],
  [
    'a column that it did not ask for, which fewer may read',
    'pages',
    'true',
    'the expression shown is not valid SQL, “column "pages" does not exist”',
  ],
  [
    'a wrong value',
    "length(TITLE) + 'x'::integer",
    'true',
    'the expression shown is not valid SQL, “invalid input syntax',
  ],
  [
    'what PostgreSQL cannot do',
    '1',
    'generate_series(1, PAGES) < MOST',
    'the filter most is not valid SQL, “set-returning functions are not allowed in WHERE',
  ],
  [
    'a condition that is none',
    '1',
    'PAGES + MOST',
    'the filter most is not valid SQL, “argument of WHERE must be type boolean',
  ],
])('%s is refused with the place', async ([, expression, filter, sentence], { pool }) => {
  await expect(demandAuthorSql(pool, withSql(expression, filter))).rejects.toThrow(`note: ${sentence}`);
});
