import { printSchema } from 'graphql';
import { expect } from 'vitest';
import { policyOf } from '#shared/policy.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/graphql/both-ways.ts';
import { demandPages, type Page, pageFields } from '../../test/graphql/demand-pages.ts';
import { expenses } from '../../test/toy/expenses.ts';
import { schemaOf } from './schema/schema.ts';

/** Items of lists: the planner and the resolvers agree on them, and show no more than rights allow. */
const policy = policyOf(expenses);
const EVE = callerIn(policy, { userId: 1, role: 'employee' });

const TIMES = `1, '2026-01-01', '2026-01-02'`;
const ROWS = `
  insert into read_model.users (id, name, role, version, created_at, updated_at) values
    (1, 'Eve', 'employee', ${TIMES}), (2, 'Bert', 'approver', ${TIMES});
  insert into read_model.claims (id, employee_id, purpose, status, total, item_count, version, created_at, updated_at) values
    (11, 1, 'Strasbourg', 'draft', 600, 3, ${TIMES}), (12, 1, 'Rome', 'submitted', 0, 0, ${TIMES});
  insert into read_model.claim_items (claim_id, id, rank, employee_id, category, amount, note, version, created_at, updated_at) values
    (11, 1, 'a2', 1, 'meals', 100, 'With "the" client', ${TIMES}), (11, 2, 'a0', 1, 'travel', 200, null, ${TIMES}),
    (11, 3, 'Zz', 1, 'other', 300, '', ${TIMES}), (12, 1, 'a0', 1, 'other', 7, null, ${TIMES});
  insert into read_model.claim_approvers (claim_id, approver_id, up_to, version, created_at, updated_at) values
    (11, 2, 50, ${TIMES}), (12, 1, null, ${TIMES}), (12, 2, null, ${TIMES});
  insert into read_model.claim_labels (claim_id, word, colour, version, created_at, updated_at) values
    (11, 'urgent', 'red', ${TIMES}), (11, 'Abroad', null, ${TIMES});`;

const test = base
  .extend('domain', { scope: 'file' }, expenses)
  .extend('rows', { scope: 'file' }, ROWS)
  .extend('viewer', { scope: 'file' }, EVE);

test.for([
  ['items', 'itemId', ['3', '2', '1']],
  ['labels', 'word', ['Abroad', 'urgent']],
] as const)('the pages of %s lead forward and back', async ([list, field, all], { answersTo }) => {
  const page = async (args: string): Promise<Page & { keys: readonly string[] }> => {
    const text = `{ claim(id: 11) { page: ${list}Connection(${args}) { ${pageFields(`key: ${field}`)} } } }`;
    const [planned, resolved] = await answersTo(text);
    expect(resolved).toEqual(planned);
    const { page: found } = (planned as { claim: { page: Page } }).claim;
    return { ...found, keys: found.nodes.map((node) => (node as { key: string }).key) };
  };
  await demandPages(page, all);
});

test('a cursor of another list is refused', async ({ answersTo }) => {
  const [, resolved] = await answersTo('{ claim(id: 11) { labelsConnection { pageInfo { endCursor } } } }');
  const { endCursor } = (resolved as { claim: { labelsConnection: { pageInfo: { endCursor: string } } } })
    .claim.labelsConnection.pageInfo;
  for (const args of [`after: "${endCursor}"`, 'after: "x"', 'first: 1, last: 1'])
    expect(await answersTo(`{ claim(id: 11) { itemsConnection(${args}) { totalCount } } }`), args).toEqual([
      undefined,
      [expect.objectContaining({ path: ['claim', 'itemsConnection'] })],
    ]);
});

test('everything about items has a description', () => {
  const types = printSchema(schemaOf(expenses));
  const undescribed = types
    .split('\n')
    .filter(
      (line, index, lines) =>
        /^(type|input|enum) Claim(Item|Label|Approver)/.test(line) && !lines[index - 1]?.includes('"""'),
    );
  expect(undescribed).toEqual([]);
  expect(types).toContain('approver: User');
  expect(types).toContain('addClaimItem(id: ID!, input: ClaimItemInput!, ifVersion: Int): ClaimItem!');
  expect(types).toContain('moveClaimItem(id: ID!, itemId: ID!, before: ID, ifVersion: Int): ClaimItem!');
  expect(types).toContain(
    'updateClaimApprover(id: ID!, approverId: ID!, changes: ClaimApproverChanges!, ifVersion: Int): ClaimApprover!',
  );
  expect(types).toContain('removeClaimLabel(id: ID!, word: String!, ifVersion: Int): Claim!');
});
