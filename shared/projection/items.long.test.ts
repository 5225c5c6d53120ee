import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#shared/commands/command.ts';
import { checkRow } from '../../proof/watch/check-rows.ts';
import { createBatchComparison } from '../../test/engines/batches.ts';
import {
  by,
  type CommandSide,
  createCommandDatabase,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { replayed, startProjecting, untilProjected, verified } from '../../test/engines/projection.ts';
import { expenses } from '../../test/toy/expenses.ts';
import { digestOf } from './digest.ts';

/** The lists of an aggregate in its read model equal the state of the deciders, however they were written. */
const resources = new AsyncDisposableStack();
const signal = new AbortController().signal;
let side: CommandSide;
let owner: UserId;
let approvers: readonly UserId[];

beforeAll(async () => {
  const database = resources.use(await createCommandDatabase());
  side = resources.use(await database.open({ domain: expenses }));
  resources.use(await startProjecting(side));
  owner = await registerUser(side, { role: 'employee' as never });
  approvers = await Promise.all([1, 2, 3, 4].map(() => registerUser(side, { role: 'approver' as never })));
});
afterAll(() => resources.disposeAsync());

const send = async (type: string, form: object) =>
  (await side.send({ type, ...form } as unknown as Command, by(system))).id;
const draft = (employeeId = owner) => send('DraftClaim', { purpose: 'Strasbourg', employeeId });
const rowsOf = async (table: string) =>
  (await side.pool.query(`select * from read_model.${table} order by 1, 2`)).rows;

const itemId = fc.integer({ min: 1, max: 7 });
const approver = fc.integer({ min: 0, max: 3 });
const amount = fc.integer({ min: 1, max: 9 });
const note = fc.constantFrom(null, 'one', 'two');
const asked = fc.oneof(
  fc.record({ amount, note }).map((form) => ['AddItem', form] as const),
  fc.record({ itemId, amount }).map((form) => ['ChangeItem', form] as const),
  fc.record({ itemId, note }).map((form) => ['ChangeItem', form] as const),
  fc.record({ itemId, before: fc.option(itemId) }).map((form) => ['MoveItem', form] as const),
  fc.record({ itemId }).map((form) => ['RemoveItem', form] as const),
  fc.record({ approver, upTo: fc.option(amount) }).map((form) => ['NameApprover', form] as const),
  fc.record({ approver, upTo: amount }).map((form) => ['ChangeLimit', form] as const),
  fc.record({ approver }).map((form) => ['DismissApprover', form] as const),
  fc.record({ word: fc.constantFrom('a', 'B', 'c') }).map((form) => ['AddLabel', form] as const),
  fc.record({ word: fc.constantFrom('a', 'B', 'c') }).map((form) => ['RemoveLabel', form] as const),
);

const named = (form: object): object => {
  if (!('approver' in form)) return form;
  const { approver, ...rest } = form;
  return { ...rest, approverId: approvers[Number(approver)] };
};

test('whatever is decided, the item rows equal the state of the deciders, and a replay in any batches produces the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(asked, { minLength: 5, maxLength: 40 }),
      fc.boolean(),
      async (commands, isDeleted) => {
        const claimId = await draft();
        for (const [name, form] of commands)
          await send(`${name}Claim`, { claimId, ...named(form) }).catch((error: unknown) => {
            if (!(error instanceof Rejection)) throw error;
          });
        if (isDeleted) await send('DeleteClaim', { claimId });
      },
    ),
    { numRuns: 10 },
  );
  await untilProjected(side);
  for (const table of ['claim_items', 'claim_approvers'])
    expect((await rowsOf(table)).length, table).toBeGreaterThan(0);
  const report = await verified(side);
  expect(report.findings.listed).toEqual([]);
  expect(Object.keys(report.readModel?.rows ?? {})).toEqual(
    expect.arrayContaining(['claim_items', 'claim_approvers', 'claim_labels']),
  );
  const live = await digestOf(side.pool, 'read_model');
  expect(live).toHaveProperty('claim_items');
  for (const batch of [1, 7]) expect(await replayed(side, batch)).toEqual(live);
});

const AT = '2026-01-02T03:04:05.678Z';
const happened = fc.record({
  type: fc.constantFrom(
    'drafted',
    'itemAdded',
    'itemAdded',
    'itemChanged',
    'itemMoved',
    'itemRemoved',
    'approverNamed',
    'deleted',
  ),
  claimId: fc.integer({ min: 1, max: 2 }),
  item: fc.integer({ min: 1, max: 2 }),
  amount,
  isCut: fc.boolean(),
  // RFC 3339 has a year 0, and PostgreSQL has not.
  at: fc.oneof(
    { weight: 25, arbitrary: fc.constant(AT) },
    { weight: 1, arbitrary: fc.constant('0000-02-03T04:05:06.000Z') },
  ),
});

test('however a log that no decider made is cut into batches, the final rows are the same', async () => {
  const compare = await createBatchComparison(side);
  await fc.assert(
    fc.asyncProperty(fc.array(happened, { minLength: 1, maxLength: 30 }), async (all) => {
      const { singly, inBatches } = await compare(
        all.map(({ type, claimId, item, amount: value, at, isCut }) => ({
          type: `claim.${type}`,
          stream: `claim-${claimId}`,
          data: { claimId, employeeId: owner, ...dataOf(type, item, value) },
          at,
          isCut,
        })),
      );
      expect(inBatches).toEqual(singly);
    }),
    { numRuns: 30 },
  );
});

const dataOf = (type: string, item: number, value: number): object => {
  if (type === 'drafted') return { purpose: 'x' };
  if (type === 'itemAdded')
    return { itemId: item, category: 'meals', amount: value, note: null, rank: `a${value}` };
  if (type === 'itemChanged') return { itemId: item, amount: value };
  if (type === 'itemMoved') return { itemId: item, rank: `b0${value}` };
  if (type === 'itemRemoved') return { itemId: item };
  return type === 'approverNamed' ? { approverId: item, upTo: value } : {};
};

test('of two concurrent additions with room for one, one is refused', async () => {
  const claimId = await draft();
  for (const amount of [1, 2, 3, 4]) await send('AddItemClaim', { claimId, amount });
  const added = await Promise.allSettled([5, 6].map((amount) => send('AddItemClaim', { claimId, amount })));
  expect(added.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(added.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'claim_items_full' },
  });
  await untilProjected(side);
  expect((await rowsOf('claim_items')).filter(({ claim_id }) => claim_id === claimId)).toHaveLength(5);
});

test('a parked aggregate has no items either', async () => {
  const claimId = await draft();
  await send('AddItemClaim', { claimId, amount: 1 });
  await untilProjected(side);
  await side.eventLog.append(`claim-${claimId}` as StreamName, 2 as Version, [
    { id: randomUUID(), type: 'claim.itemAdded', data: { claimId, rank: '' }, metadata: {} } as never,
  ]);
  await untilProjected(side);
  expect((await rowsOf('claim_items')).filter(({ claim_id }) => claim_id === claimId)).toEqual([]);
  expect((await verified(side)).findings.byKind).not.toHaveProperty('row_extra');
});

test.each([
  `update read_model.claim_items set amount = amount + 1 where claim_id = $1`,
  `update read_model.claim_items set id = id + 9 where claim_id = $1`,
  `delete from read_model.claim_items where claim_id = $1`,
  `insert into read_model.claim_items select more.* from read_model.claim_items one,
     json_populate_record(one, '{"id":9}') more where one.claim_id = $1`,
  `update read_model.claim_approvers set up_to = up_to + 1 where claim_id = $1`,
  `update read_model.claims set total = total + 1 where id = $1`,
  `update read_model.claims set item_count = item_count + 1 where id = $1`,
])('the watch finds tampering: %s', async (tampering) => {
  const claimId = await draft();
  await send('AddItemClaim', { claimId, amount: 1 });
  await send('NameApproverClaim', { claimId, approverId: approvers[0], upTo: 3 });
  await untilProjected(side);
  const watch = () => checkRow({ ...side, signal }, `claim-${claimId}` as StreamName);
  expect(await watch()).toEqual([]);
  expect((await side.pool.query(tampering, [claimId])).rowCount).toBe(1);
  expect(await watch()).toHaveLength(1);
});
