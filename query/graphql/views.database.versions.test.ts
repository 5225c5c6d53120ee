import { printSchema } from 'graphql';
import { expect } from 'vitest';
import { policyOf } from '#shared/policy.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/graphql/both-ways.ts';
import { demandPages, type Page, pageFields } from '../../test/graphql/demand-pages.ts';
import { spendingDomain } from '../../test/toy/spending.ts';
import { schemaOf } from './schema/schema.ts';

/** Views: the planner and the resolvers agree on them, and show no more than rights allow. */
const policy = policyOf(spendingDomain);
const EVE = callerIn(policy, { userId: 1, role: 'employee' });
const ANN = callerIn(policy, { userId: 2, role: 'approver' });
const ACCOUNTANT = callerIn(policy, { userId: 3, role: 'accountant' });

const TIMES = `1, '2026-01-01', '2026-01-02'`;
const ROWS = `
  insert into read_model.users (id, name, role, version, created_at, updated_at, deleted_at) values
    (1, 'Eve', 'employee', ${TIMES}, null), (2, 'Ann', 'approver', ${TIMES}, null), (3, 'Abe', 'accountant', ${TIMES}, null),
    (4, null, 'employee', ${TIMES}, '2026-01-02');
  insert into read_model.teams (id, name, approver_id, budget, version, created_at, updated_at) values
    (11, 'One', 2, 100, ${TIMES}), (12, 'Two', 3, 200, ${TIMES});
  insert into read_model.spending (team_id, budget, waiting, approved, paid, last_paid_at, last_purpose, shares) values
    (11, 100, 2, 5, 9007199254740991, '2026-01-03T00:00:00.123Z', 'meals', 3), (12, 200, 2, 6, 20, null, null, 1),
    (13, 0, 1, 7, 20, '2026-01-04', 'travel', 1);
  insert into read_model.asking (employee_id, category, requests, amount, owed, last_asked_at, shares) values
    (1, 'travel', 2, 30, -10, '2026-01-03', 2), (1, 'meals', 1, 5, 0, '2026-01-04', 1), (4, 'other', 1, 7, 0, null, 1);`;

const test = base
  .extend('domain', { scope: 'file' }, spendingDomain)
  .extend('rows', { scope: 'file' }, ROWS)
  .extend('viewer', { scope: 'file' }, ACCOUNTANT)
  .extend(
    'pageOf',
    { scope: 'file' },
    ({ answersTo }) =>
      async (args: string): Promise<Page & { readonly keys: readonly number[] }> => {
        const text = `{ page: spendingConnection(${args}) { ${pageFields('approved')} } }`;
        const [planned, resolved] = await answersTo(text);
        expect(resolved).toEqual(planned);
        const { page } = planned as { page: Page };
        return { ...page, keys: page.nodes.map((node) => (node as { approved: number }).approved) };
      },
  );

const both = (data: unknown) => [data, data];

test('a row that is absent or not readable is null', async ({ answersTo }) => {
  for (const key of ['12', '99', '"x"', '"9007199254740993"', '"011"'])
    expect(await answersTo(`{ spending(team: ${key}) { budget } }`, ANN)).toEqual(both({ spending: null }));
  // The team is parked, or its event has not been applied yet.
  expect(await answersTo('{ spending(team: 13) { approved } }')).toEqual(both({ spending: { approved: 7 } }));
  expect(await answersTo('{ asking(employee: 1, category: meals) { amount } }', EVE)).toEqual(
    both({ asking: { amount: 5 } }),
  );
  expect(await answersTo('{ asking(employee: 4, category: other) { amount } }', EVE)).toEqual(
    both({ asking: null }),
  );
});
test.for([
  ['TEAM_ASC', [5, 6, 7]],
  ['TEAM_DESC', [7, 6, 5]],
  ['WAITING_ASC', [7, 5, 6]],
  ['WAITING_DESC', [6, 5, 7]],
  ['PAID_ASC', [6, 7, 5]],
  ['LAST_PAID_AT_DESC', [7, 5]],
] as const)('the pages by %s lead forward and back', async ([sort, all], { pageOf }) => {
  const page = (args: string) => pageOf(`sort: ${sort}, ${args}`);
  await demandPages(page, all);
});

test('a cursor of another list is refused', async ({ answersTo, pageOf }) => {
  const { edges } = await pageOf('first: 1, sort: PAID_ASC');
  const [planned, resolved] = await answersTo(
    `{ spendingConnection(sort: TEAM_ASC, after: "${edges[0]?.cursor}") { nodes { budget } } }`,
  );
  // The resolvers report it at its field.
  expect([planned, resolved]).toMatchObject([
    undefined,
    [{ path: ['spendingConnection'], cause: { code: 'unknown_cursor' } }],
  ]);
});

test('the schema has the types of views', () => {
  const sdl = printSchema(schemaOf(spendingDomain));
  expect(sdl).toContain('spending(team: ID!): Spending');
  expect(sdl).toContain('asking(employee: ID!, category: AskingCategory!): Asking');
  expect(sdl).toMatch(/"""Requests that wait for a decision\."""\n {2}waiting: Int!/);
  expect(sdl).toContain('  approved: Float!');
  expect(sdl).toMatch(/input AskingFilter \{[^}]*category: AskingCategory/);
});
