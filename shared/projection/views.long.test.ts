// Over 200 lines, because every case goes through the one toy domain that is set up here.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#shared/commands/command.ts';
import { replay } from '../../proof/replay/replay.ts';
import { checkRow } from '../../proof/watch/check-rows.ts';
import { createBatchComparison } from '../../test/engines/batches.ts';
import {
  by,
  type CommandSide,
  createCommandDatabase,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import {
  appendRaw,
  replayed,
  startProjecting,
  untilProjected,
  verified,
} from '../../test/engines/projection.ts';
import { spendingDomain } from '../../test/toy/spending.ts';
import { otherThan } from '../../testing/describe-domain/forgery.ts';
import { digestOf } from './digest.ts';
import { rebuild } from './rebuild.ts';
import { retry } from './retry.ts';
import { skipParked } from './skip-parked.ts';

/** However its events arrived, a view is the sum of its streams. */
const resources = new AsyncDisposableStack();
const signal = new AbortController().signal;
let side: CommandSide;
let users: readonly UserId[];

beforeAll(async () => {
  const database = resources.use(await createCommandDatabase());
  side = resources.use(await database.open({ domain: spendingDomain }));
  resources.use(await startProjecting(side));
  users = [
    await registerUser(side, { role: 'employee' as never }),
    await registerUser(side, { role: 'approver' as never }),
  ];
});
afterAll(() => resources.disposeAsync());

const send = async (type: string, form: object) =>
  (await side.send({ type, ...form } as unknown as Command, by(system))).id;
const open = (budget: number) => send('OpenTeam', { name: 'Field work', approverId: users[1], budget });
const draft = (teamId: unknown, amount = 10, category = 'travel') =>
  send('DraftRequest', { teamId, amount, category, purpose: 'Strasbourg', employeeId: users[0] });
const attempt = (type: string, form: object) =>
  send(type, form).catch((error: unknown) => {
    if (!(error instanceof Rejection)) throw error;
  });
const work = () => ({ ...side, signal, onProgress() {} });

type Spent = Readonly<Record<'budget' | 'waiting' | 'approved' | 'paid' | 'reminders' | 'shares', number>>;
const spentBy = async (teamId: unknown): Promise<Spent | undefined> => {
  const { rows } = await side.pool.query(
    'select budget::int, waiting::int, approved::int, paid::int, reminders::int, shares::int from read_model.spending where team_id = $1',
    [teamId],
  );
  return rows[0] as Spent | undefined;
};

/** The expected view, computed from the rows of the aggregates. */
const SPENDING = `
  select team_id, sum(budget) as budget, sum(waiting) as waiting, sum(approved) as approved, sum(paid) as paid, max(last_paid_at) as last_paid_at
  from (select id as team_id, budget, 0 as waiting, 0 as approved, 0 as paid, null::timestamptz as last_paid_at from read_model.teams
        union all
        select team_id, 0, (status = 'submitted')::int, case when status = 'approved' then amount else 0 end,
          case when status = 'paid' then amount else 0 end, case when status = 'paid' then paid_at end
        from read_model.requests where status in ('submitted', 'approved', 'paid') and team_id is not null) all_of_them
  group by team_id order by team_id`;
const ASKING = `select employee_id, category, count(*) as requests, sum(amount) as amount, count(*) as shares
  from read_model.requests group by 1, 2 order by 1, 2`;
const PAYING = `select to_char(paid_at at time zone 'UTC', 'YYYY-MM') as month, team_id, sum(amount) as paid, avg(amount) as average,
    min(amount) as lowest, max(amount) as highest, min(paid_at) as first, max(paid_at) as last, count(*) as shares
  from read_model.requests where status = 'paid' and team_id is not null group by 1, 2 order by 1, 2`;
const NEEDING = `select to_char(created_at at time zone 'UTC', 'IYYY-"W"IW') as asked_in, needed_on, count(*) as requests,
    avg(weight) as weight, min(needed_on) as first_needed_on, count(*) as shares
  from read_model.requests where needed_on is not null group by 1, 2 order by 1, 2`;

const index = fc.nat({ max: 5 });
const amount = fc.integer({ min: 1, max: 9 });
const category = fc.constantFrom('travel', 'meals', 'other');
const neededOn = fc.constantFrom('2026-01-31', '2026-02-01', '9999-12-31', null);
const weight = fc.constantFrom(0, 5, 9, null);
const asked = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({ amount, category, neededOn, weight, team: index })
      .map((form) => ['draft', form] as const),
  },
  fc.record({ request: index, amount }).map((form) => ['EditRequest', form] as const),
  fc.record({ request: index, category }).map((form) => ['EditRequest', form] as const),
  fc.record({ request: index, neededOn }).map((form) => ['EditRequest', form] as const),
  fc.record({ request: index, weight }).map((form) => ['EditRequest', form] as const),
  fc.record({ request: index, team: index }).map((form) => ['EditRequest', form] as const),
  ...[
    'SubmitRequest',
    'SubmitRequest',
    'RejectRequest',
    'ApproveRequest',
    'PayRequest',
    'RemindRequest',
    'DeleteRequest',
  ].map((name) => fc.record({ request: index }).map((form) => [name, form] as const)),
  fc.record({ team: index, budget: amount }).map((form) => ['EditTeam', form] as const),
  fc.record({ team: index }).map((form) => ['CloseTeam', form] as const),
);

const expectSame = async (view: string, query: string, columns: readonly string[]) => {
  const shown = columns.map((each) =>
    ['weight', 'average'].includes(each) ? `${each}::float as ${each}` : `${each}::text as ${each}`,
  );
  const of = async (from: string) =>
    (await side.pool.query(`select ${shown.join(', ')} from ${from} x order by 1, 2`)).rows;
  const live = await of(`read_model.${view}`);
  expect(live).toEqual(await of(`(${query})`));
  expect(live.length).toBeGreaterThan(2);
};

test('whatever is decided, a view is the sum of its streams, and any replay and a rebuild produce the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 10, maxLength: 40 }), async (commands) => {
      const teams = [await open(100), await open(200), null];
      const requests: unknown[] = [await draft(teams[0])];
      for (const [name, { team, request, ...form }] of commands as readonly (readonly [
        string,
        Readonly<Record<string, unknown>>,
      ])[]) {
        const teamId =
          team === undefined ? {} : { teamId: teams[Number(team) % (name.endsWith('Team') ? 2 : 3)] };
        if (name === 'draft')
          requests.push(
            await send('DraftRequest', { ...form, ...teamId, purpose: 'x', employeeId: users[0] }),
          );
        else
          await attempt(name, {
            ...form,
            ...teamId,
            ...(request !== undefined && { requestId: requests[Number(request) % requests.length] }),
          });
      }
      for (const [index, requestId] of requests.slice(0, 5).entries()) {
        for (const name of ['SubmitRequest', 'ApproveRequest', 'PayRequest'])
          await attempt(name, { requestId });
        if (index === 3) await attempt('EditRequest', { requestId, amount: 20 });
        if (index === 4) await attempt('DeleteRequest', { requestId });
      }
    }),
    { numRuns: 12 },
  );
  await untilProjected(side);
  // An edit after the approval does not change the approved amount.
  const { rows: edited } = await side.pool.query(
    'select team_id, waiting, last_paid_at from read_model.spending order by 1',
  );
  const { rows: wanted } = await side.pool.query(
    `select team_id, waiting, last_paid_at from (${SPENDING}) s order by 1`,
  );
  expect(edited).toEqual(wanted.map((row) => ({ ...row, waiting: String(row.waiting) })));
  expect(edited.length).toBeGreaterThan(5);
  const asking = await side.pool.query(
    'select employee_id, category, requests::int, amount::int, shares::int from read_model.asking order by 1, 2',
  );
  const byRows = await side.pool.query(
    `select employee_id, category, requests::int, amount::int, shares::int from (${ASKING}) a order by 1, 2`,
  );
  expect(asking.rows).toEqual(byRows.rows);
  expect(asking.rows.length).toBe(3);
  await expectSame('paying', PAYING, [
    ...'month,team_id,paid,average,lowest,highest,first,last,shares'.split(','),
  ]);
  await expectSame('needing', NEEDING, [
    ...'asked_in,needed_on,requests,weight,first_needed_on,shares'.split(','),
  ]);
  expect((await verified(side)).findings.listed).toEqual([]);
  const live = await digestOf(side.pool, 'read_model');
  expect(Object.keys(live)).toEqual(
    expect.arrayContaining([
      'spending',
      'asking',
      'spending_of_request',
      'spending_of_team',
      'asking_of_request',
    ]),
  );
  for (const batch of [1, 7]) expect(await replayed(side, batch)).toEqual(live);
  await rebuild(work());
  expect(await digestOf(side.pool, 'read_model')).toEqual(live);
});

test('a share follows its aggregate from key to key, and leaves the sums with its end', async () => {
  const [one, other] = [await open(100), await open(200)];
  const requestId = await draft(one, 30);
  const seen = async () => {
    await untilProjected(side);
    return [await spentBy(one), await spentBy(other)];
  };
  const nothing = { waiting: 0, approved: 0, paid: 0, reminders: 0, shares: 1 };
  expect(await seen()).toEqual([
    { ...nothing, budget: 100 },
    { ...nothing, budget: 200 },
  ]);
  await send('SubmitRequest', { requestId });
  await send('RemindRequest', { requestId });
  await send('RemindRequest', { requestId });
  expect(await seen()).toMatchObject([{ waiting: 1, reminders: 2, shares: 2 }, nothing]);
  await send('EditRequest', { requestId, teamId: other });
  expect(await seen()).toMatchObject([nothing, { waiting: 1, reminders: 2, shares: 2 }]);
  await send('ApproveRequest', { requestId });
  expect(await seen()).toMatchObject([nothing, { waiting: 0, approved: 30, reminders: 2 }]);
  await send('PayRequest', { requestId });
  expect(await seen()).toMatchObject([nothing, { approved: 0, paid: 30, reminders: 0 }]);
  await send('EditRequest', { requestId, teamId: null });
  expect(await seen()).toMatchObject([nothing, nothing]);
  await send('EditRequest', { requestId, teamId: one });
  await send('DeleteRequest', { requestId });
  await send('CloseTeam', { teamId: one });
  expect(await seen()).toMatchObject([undefined, nothing]);
});

test('the latest value is that of the latest event that still counts', async () => {
  const teamId = await open(1);
  const latest = async () => {
    await untilProjected(side);
    const { rows } = await side.pool.query(
      'select last_paid_at, last_purpose from read_model.spending where team_id = $1',
      [teamId],
    );
    return rows[0];
  };
  const paid: unknown[] = [];
  for (const category of ['travel', 'meals']) {
    const requestId = await draft(teamId, 10, category);
    for (const name of ['Submit', 'Approve', 'Pay']) await send(`${name}Request`, { requestId });
    paid.push(requestId);
  }
  expect(await latest()).toMatchObject({ last_purpose: 'meals', last_paid_at: expect.any(Date) });
  const last = (await latest()).last_paid_at;
  await send('DeleteRequest', { requestId: paid[1] });
  expect((await latest()).last_purpose).toBe('travel');
  expect((await latest()).last_paid_at < last).toBe(true);
  await send('DeleteRequest', { requestId: paid[0] });
  expect(await latest()).toEqual({ last_purpose: null, last_paid_at: null });
});

test('parking an aggregate removes its share, and a retry restores it', async () => {
  const teamId = await open(100);
  const requestId = await draft(teamId, 30);
  await send('SubmitRequest', { requestId });
  await untilProjected(side);
  const stream = `request-${requestId}` as StreamName;
  expect(await spentBy(teamId)).toMatchObject({ waiting: 1, shares: 2 });
  await appendRaw(side, stream, { type: 'request.approved', data: { requestId: 'x' } }, 2);
  await untilProjected(side);
  expect(await spentBy(teamId)).toMatchObject({ waiting: 0, shares: 1 });
  expect((await verified(side)).findings.byKind).not.toHaveProperty('row_different');
  expect(await retry(side, stream)).toMatchObject({ stream, version: 3 });
  expect(await spentBy(teamId)).toMatchObject({ waiting: 0, shares: 1 });
  expect(await skipParked(side, { stream, version: 3 as Version })).toBeUndefined();
  expect(await spentBy(teamId)).toMatchObject({ waiting: 1, shares: 2 });
  expect((await verified(side)).findings.byKind).not.toHaveProperty('row_different');
  expect(await replayed(side, 3)).toEqual(await digestOf(side.pool, 'read_model'));
});

const happened = fc.record({
  type: fc.constantFrom(
    'drafted',
    'edited',
    'submitted',
    'submitted',
    'reminded',
    'rejected',
    'approved',
    'paid',
    'deleted',
  ),
  requestId: fc.integer({ min: 1, max: 3 }),
  teamId: fc.constantFrom(1, 2, null),
  amount,
  category,
  isCut: fc.boolean(),
});

test('however a log that no decider made is cut into batches, the final views are the same', async () => {
  const compare = await createBatchComparison(side);
  await fc.assert(
    fc.asyncProperty(fc.array(happened, { minLength: 1, maxLength: 30 }), async (all) => {
      const { singly, inBatches } = await compare(
        all.map(({ type, requestId, teamId, amount: value, category: of, isCut }, index) => {
          const held = ['submitted', 'approved', 'paid', 'drafted'].includes(type)
            ? { teamId, category: of, amount: value }
            : {};
          const data = {
            ...{ requestId, employeeId: users[0], ...held },
            ...(type === 'drafted' && { purpose: 'x' }),
            ...(type === 'edited' && { teamId, amount: value }),
          };
          const at = `2026-01-02T03:04:${String(index % 60).padStart(2, '0')}.678Z`;
          return { type: `request.${type}`, stream: `request-${requestId}`, data, at, isCut };
        }),
      );
      expect(inBatches).toEqual(singly);
    }),
    { numRuns: 40 },
  );
});

test.each([
  ['spending', 'team_id', '^last_'],
  ['spending_of_request', 'id', '^(team_id|waiting)$'],
])('tampering with %s is found, with a share also by the watch', async (table, key, tampered) => {
  const teamId = await open(5);
  const requestId = await draft(teamId);
  for (const name of ['Submit', 'Approve', 'Pay']) await send(`${name}Request`, { requestId });
  await untilProjected(side);
  const { rows: columns } = await side.pool.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = 'read_model.${table}'::regclass and attname ~ $1`,
    [tampered],
  );
  expect(columns.length).toBeGreaterThan(1);
  for (const { name, type } of columns) {
    await side.pool.query(`create table public.kept as select * from read_model.${table}`);
    await side.pool.query(
      `update read_model.${table} set ${name} = ${otherThan(name, type)} where ${key} = $1`,
      [key === 'id' ? requestId : teamId],
    );
    const { listed } = (await verified(side)).findings;
    expect(listed, name).toContainEqual(expect.objectContaining({ table, kind: 'row_different' }));
    if (key === 'id')
      expect(await checkRow({ ...side, signal }, `request-${requestId}` as StreamName)).toHaveLength(1);
    await side.pool.query(
      `delete from read_model.${table}; insert into read_model.${table} select * from public.kept; drop table public.kept`,
    );
  }
});

test('the watch finds a share too few and one too many', async () => {
  const [counted, uncounted] = [await draft(await open(5)), await draft(null)];
  await send('SubmitRequest', { requestId: counted });
  await untilProjected(side);
  const watch = (id: unknown) => checkRow({ ...side, signal }, `request-${id}` as StreamName);
  expect([await watch(counted), await watch(uncounted)]).toEqual([[], []]);
  await side.pool.query(
    `insert into read_model.spending_of_request select more.* from read_model.spending_of_request one,
       json_populate_record(one, json_build_object('id', $2::bigint)) more where one.id = $1`,
    [counted, uncounted],
  );
  await side.pool.query('delete from read_model.spending_of_request where id = $1', [counted]);
  for (const id of [counted, uncounted]) expect(await watch(id)).toHaveLength(1);
});

test('a list sorted by a column, or filtered by a part of its key, is read along an index', async () => {
  const { rows } = await side.pool.query(
    `select indexdef from pg_indexes where schemaname = 'read_model' and tablename in ('spending', 'asking')`,
  );
  const indexes = rows.map(({ indexdef }) => indexdef.replace(/^.* USING btree /, '')).toSorted();
  expect(indexes).toEqual([
    '(category, employee_id)',
    '(changed_position, employee_id, category)',
    '(changed_position, team_id)',
    '(employee_id, category)',
    '(last_paid_at, team_id)',
    '(paid, team_id)',
    '(team_id)',
    '(waiting, team_id)',
  ]);
});

test('a read model of the past has its views too', async () => {
  const teamId = await open(7);
  const upTo = await side.eventLog.head();
  await send('EditTeam', { teamId, budget: 8 });
  await untilProjected(side);
  const { rows } = await replay(work(), { schema: 'replay_with_views', upTo });
  expect(rows.spending).toBeGreaterThan(0);
  const then = await side.pool.query(
    'select budget::int from replay_with_views.spending where team_id = $1',
    [teamId],
  );
  expect([then.rows, await spentBy(teamId)]).toMatchObject([[{ budget: 7 }], { budget: 8 }]);
});
