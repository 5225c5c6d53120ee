// Over 200 lines, because every case follows the views of one fixture.
import { expect } from 'vitest';
import type { Position, StreamName } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { keyOfRow } from '#kernel/rest/views.ts';
import { REMOVED_MAX } from '#kernel/rows/view-streams.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Command } from '#shared/commands/command.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { Notifier } from '#shared/notifier.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { useReadModel } from '#shared/projection/schema.ts';
import { skipParked } from '#shared/projection/skip-parked.ts';
import { by, registerUser, system } from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/processes.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { spendingDomain } from '../../test/toy/spending.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { openViewFeed } from './feed.ts';
import { NO_JOINS } from './rows.ts';
import { type ViewSource, viewSourcesOf } from './source.ts';

/** The invariant: a subscriber’s copy equals the part of the view that they may read, whatever happens. */
const policy = policyOf(spendingDomain);
const [spending] = viewSourcesOf(spendingDomain) as [ViewSource];

const test = base
  .extend('sideOptions', { scope: 'file' }, { domain: spendingDomain })
  .extend('employee', { scope: 'file' }, ({ side }) => registerUser(side, { role: 'employee' as never }))
  .extend('ann', { scope: 'file' }, ({ side }) => registerUser(side, { role: 'approver' as never }))
  .extend('bob', { scope: 'file' }, ({ side }) => registerUser(side, { role: 'approver' as never }))
  .extend('views', { scope: 'file' }, ({ projector: _running, side: { domain, pool } }, { onCleanup }) => {
    const views = openViewFeed({
      domain,
      pool,
      notifier: new Notifier(REAL_TIME),
      moveOnMs: 50,
      clock: REAL_TIME,
    });
    onCleanup(() => views[Symbol.asyncDispose]());
    return views;
  })
  .extend('send', { scope: 'file' }, ({ side }) => async (type: string, form: object) => {
    return (await side.send({ type, ...form } as unknown as Command, by(system))).id;
  })
  .extend('open', { scope: 'file' }, ({ ann, send }) => (budget: number, approverId = ann) => {
    return send('OpenTeam', { name: 'Field work', approverId, budget });
  })
  /** A subscriber that keeps its copy over interruptions, and may take messages slowly. */
  .extend('follower', { scope: 'file' }, ({ side, views }) => (caller: Caller, equal: Equal = {}) => {
    const [copy, messages] = [new Map<string, unknown>(), [] as Message[]];
    let position: Position | undefined;
    let membership: Disposable | undefined;
    let room: PromiseWithResolvers<void> | undefined;
    const failures: unknown[] = [];
    const follow = () => {
      membership = views.follow({
        ...{ source: spending, caller, equal, joined: NO_JOINS, after: position },
        render: (told, at) => {
          const of = told.type === 'reset' ? '' : JSON.stringify(keyOfRow(spending.view, told.row));
          const row = told.type === 'changed' ? shown(told.row) : undefined;
          return Buffer.from(JSON.stringify({ type: told.type, key: of, row, at }));
        },
        send(message) {
          const { type, key, row, at } = JSON.parse(String(message));
          messages.push({ type, key, row });
          if (type === 'reset') copy.clear();
          else if (type === 'changed') copy.set(key, row);
          else copy.delete(key);
          position = at;
          return room?.promise;
        },
        moveOn(at) {
          position = at;
        },
        fail: (error) => void failures.push(error),
      });
    };
    follow();
    const leave = () => membership?.[Symbol.dispose]();
    return {
      ...{ copy, messages, failures, leave },
      again() {
        leave();
        messages.length = 0;
        follow();
      },
      stop() {
        room = Promise.withResolvers();
      },
      goOn() {
        const { resolve } = room ?? {};
        room = undefined;
        resolve?.();
      },
      /** Waits until its copy is complete. */
      async hasAll() {
        await untilProjected(side);
        const { rows } = await side.pool.query<Record<string, unknown>>(
          `select s.* from read_model.spending s left join read_model.teams t on t.id = s.team_id
         where ${caller === ACCOUNTANT ? 'true' : `t.approver_id = ${caller.kind === 'user' ? caller.userId : 0}`}`,
        );
        const wanted = new Map(rows.map((row) => [JSON.stringify(keyOfRow(spending.view, row)), shown(row)]));
        const head = await side.eventLog.head();
        const sorted = (map: ReadonlyMap<string, unknown>) =>
          JSON.stringify([...map].toSorted(([one], [other]) => (one < other ? -1 : 1)));
        await until(
          () => [sorted(copy), (position ?? 0) >= head],
          ([text, isUpTo]) => text === sorted(wanted) && isUpTo === true,
        );
        expect(failures).toEqual([]);
        return wanted.size;
      },
    };
  });

const callerOf = (role: string, userId: number) => callerIn(policy, { userId, role });
const ACCOUNTANT = callerOf('accountant', 999);
type Equal = Readonly<Record<string, unknown>>;
type Message = { readonly type: string; readonly key: string; readonly row: unknown };

const shown = ({ budget, waiting, paid }: Readonly<Record<string, unknown>>) =>
  [budget, waiting, paid].map(Number);
const typesIn = (messages: readonly Message[]) => messages.map(({ type }) => type);

test('a new subscriber gets all rows, and then each row that is changed or removed', async ({
  follower,
  open,
  send,
  side,
}) => {
  const [one, other] = [await open(100), await open(200)];
  await untilProjected(side);
  const accountant = follower(ACCOUNTANT);
  expect(await accountant.hasAll()).toBeGreaterThanOrEqual(2);
  expect(accountant.messages[0]?.type).toBe('reset');
  accountant.messages.length = 0;
  await send('EditTeam', { teamId: one, budget: 101 });
  await accountant.hasAll();
  await send('CloseTeam', { teamId: other });
  await accountant.hasAll();
  expect(accountant.messages).toEqual([
    { type: 'changed', key: `{"team":${one}}`, row: [101, 0, 0] },
    { type: 'removed', key: `{"team":${other}}`, row: undefined },
  ]);
  accountant.leave();
});

test('a returning subscriber gets one message per row changed since, and nothing else', async ({
  follower,
  open,
  send,
  side,
}) => {
  const [one, other, third] = [await open(1), await open(2), await open(3)];
  const accountant = follower(ACCOUNTANT);
  await accountant.hasAll();
  accountant.again();
  accountant.leave();
  for (const budget of [10, 20, 30]) await send('EditTeam', { teamId: one, budget });
  await send('CloseTeam', { teamId: third });
  await untilProjected(side);
  accountant.again();
  await accountant.hasAll();
  expect(accountant.messages.map(({ type, key }) => [type, key])).toEqual([
    ['changed', `{"team":${one}}`],
    ['removed', `{"team":${third}}`],
  ]);
  expect(accountant.copy.has(`{"team":${other}}`)).toBe(true);
  accountant.leave();
});

test('subscribers get only rows that they may read, and removals of no others', async ({
  ann,
  bob,
  follower,
  open,
  send,
}) => {
  const [hers, his] = [await open(1, ann), await open(2, bob)];
  const [hers2, key] = [await open(3, ann), (id: unknown) => `{"team":${id}}`];
  const [watching, accountant] = [follower(callerOf('approver', ann)), follower(ACCOUNTANT)];
  await watching.hasAll();
  await accountant.hasAll();
  watching.messages.length = 0;
  await send('EditTeam', { teamId: his, budget: 5 });
  await send('CloseTeam', { teamId: his });
  await send('EditTeam', { teamId: hers, budget: 6 });
  await watching.hasAll();
  expect(watching.messages).toEqual([{ type: 'changed', key: key(hers), row: [6, 0, 0] }]);
  accountant.messages.length = 0;
  // The right to read the row changes, the row does not.
  await send('EditTeam', { teamId: hers2, approverId: bob });
  await watching.hasAll();
  expect([watching.messages[1]?.type, watching.copy.has(key(hers2))]).toEqual(['reset', false]);
  expect(typesIn(accountant.messages)).not.toContain('reset');
  const its = follower(callerOf('approver', bob));
  await its.hasAll();
  its.leave();
  await send('EditTeam', { teamId: hers2, approverId: ann });
  await watching.hasAll();
  its.again();
  await its.hasAll();
  expect([watching.copy.has(key(hers2)), its.copy.has(key(hers2))]).toEqual([true, false]);
  for (const each of [watching, accountant, its]) each.leave();
});

test('a rebuild and a retry send a reset, also to returning subscribers', async ({
  follower,
  open,
  side,
}) => {
  const teamId = await open(7);
  const [accountant, away] = [follower(ACCOUNTANT), follower(ACCOUNTANT)];
  await accountant.hasAll();
  await away.hasAll();
  away.leave();
  const told = async () => {
    await until(
      () => typesIn(accountant.messages),
      (types) => types.includes('reset'),
    );
    await accountant.hasAll();
    away.again();
    await until(() => away.messages.length, Boolean);
    await away.hasAll();
    away.leave();
    expect(away.messages[0]?.type).toBe('reset');
    accountant.messages.length = 0;
  };
  accountant.messages.length = 0;
  await rebuild({ ...side, signal: new AbortController().signal, onProgress() {} });
  await told();
  const stream = `team-${teamId}` as StreamName;
  await appendRaw(side, stream, { type: 'team.edited', data: { teamId: 'x' } }, 1);
  await accountant.hasAll();
  expect(accountant.copy.has(`{"team":${teamId}}`)).toBe(false);
  accountant.messages.length = 0;
  await skipParked(side, { stream, version: 2 as never });
  await told();
  expect(accountant.copy.has(`{"team":${teamId}}`)).toBe(true);
  accountant.leave();
});

test('while the projector is away nothing is sent, and afterwards everything that has changed', async ({
  follower,
  open,
  projector,
  send,
}) => {
  const teamId = await open(1);
  const accountant = follower(ACCOUNTANT);
  await accountant.hasAll();
  await projector.stop();
  accountant.messages.length = 0;
  for (const budget of [2, 3]) await send('EditTeam', { teamId, budget });
  accountant.again();
  await projector.start();
  await accountant.hasAll();
  expect(accountant.messages.at(-1)).toEqual({ type: 'changed', key: `{"team":${teamId}}`, row: [3, 0, 0] });
  expect(typesIn(accountant.messages)).not.toContain('reset');
  accountant.leave();
});

test('many rows come in pages, and a subscriber cut off in the middle has all of them in the end', async ({
  follower,
  open,
  send,
  side,
}) => {
  await open(1);
  const accountant = follower(ACCOUNTANT);
  await accountant.hasAll();
  accountant.leave();
  const many = await Promise.all(Array.from({ length: 450 }, (_, budget) => open(budget)));
  await untilProjected(side);
  accountant.stop();
  accountant.again();
  await until(() => accountant.messages.length, Boolean);
  accountant.leave();
  accountant.goOn();
  accountant.again();
  await accountant.hasAll();
  expect(typesIn(accountant.messages)).not.toContain('reset');
  const fresh = follower(ACCOUNTANT);
  await fresh.hasAll();
  expect(fresh.messages.length).toBeGreaterThan(many.length);
  await Promise.all(many.map((teamId) => send('CloseTeam', { teamId })));
  await fresh.hasAll();
  await accountant.hasAll();
  for (const each of [accountant, fresh]) each.leave();
});

test('a slow subscriber gets the latest state of each row, and delays nothing', async ({
  follower,
  open,
  send,
  side,
}) => {
  const teamId = await open(1);
  const accountant = follower(ACCOUNTANT, { team_id: teamId });
  await until(() => accountant.copy.size, Boolean);
  accountant.stop();
  await send('EditTeam', { teamId, budget: 2 });
  const before = accountant.messages.length;
  await until(
    () => accountant.messages.length,
    (count) => count > before,
  );
  for (let budget = 3; budget < 40; budget += 1) {
    await send('EditTeam', { teamId, budget });
    await untilProjected(side);
  }
  expect(accountant.messages.length).toBe(before + 1);
  accountant.goOn();
  await until(
    () => accountant.copy.get(`{"team":${teamId}}`),
    (row) => String(row) === '39,0,0',
  );
  expect(accountant.messages.length).toBe(before + 2);
  accountant.leave();
});

test('if more rows were removed than are remembered, a returning subscriber gets a reset', async ({
  follower,
  open,
  side,
}) => {
  const accountant = follower(ACCOUNTANT);
  await accountant.hasAll();
  accountant.leave();
  await open(1);
  await untilProjected(side);
  const change = (statement: string) =>
    inTransaction(side.pool, async (connection) => {
      await useReadModel(connection, 'read_model');
      await connection.query(statement);
    });
  const count = 2 * REMOVED_MAX + 1;
  await change(
    `insert into spending_of_team (id, team_id, budget, version) select n, n, 1, 1 from generate_series(1, ${count}) n`,
  );
  await change(`delete from spending_of_team where id <= ${count}`);
  const { rows } = await side.pool.query(
    `select count(*)::int as count from read_model.view_removed where view = 'spending'`,
  );
  expect(rows[0].count).toBeLessThanOrEqual(REMOVED_MAX);
  await open(1);
  accountant.again();
  await accountant.hasAll();
  expect(accountant.messages[0]?.type).toBe('reset');
  accountant.leave();
});

test(`after any history, interrupted copies equal what their subscribers may read (TEST_SEED=${SEED})`, async ({
  ann,
  bob,
  employee,
  follower,
  open,
  send,
}) => {
  const readers = [ACCOUNTANT, callerOf('approver', ann), callerOf('approver', bob)].map((caller) =>
    follower(caller),
  );
  const random = createRandom(SEED);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const teams = [await open(1, ann), await open(2, bob), await open(3, ann)];
  const requests: unknown[] = [];
  for (let step = 0; step < 150; step += 1) {
    const [teamId, requestId] = [pick(teams), pick(requests)];
    const form = {
      teamId,
      amount: 1 + (step % 9),
      category: pick(['travel', 'meals']),
      purpose: 'x',
      employeeId: employee,
    };
    const does: readonly (() => Promise<unknown>)[] = [
      async () => requests.push(await send('DraftRequest', form)),
      () => send(`${pick(['Submit', 'Submit', 'Approve', 'Pay', 'Reject', 'Delete'])}Request`, { requestId }),
      () => send(`${pick(['Submit', 'Submit', 'Approve', 'Pay'])}Request`, { requestId }),
      () => send('EditTeam', { teamId, budget: step }),
      () => send('EditTeam', { teamId, approverId: pick([ann, bob]) }),
      async () => (step % 10 === 0 ? teams.push(await open(step, pick([ann, bob]))) : undefined),
      async () => (step % 15 === 0 ? send('CloseTeam', { teamId }) : undefined),
      async () => pick(readers).again(),
      async () => pick(readers).leave(),
    ];
    await pick(does)().catch((error: unknown) => {
      if (!(error instanceof Rejection)) throw error;
    });
  }
  for (const each of readers) each.again();
  for (const each of readers) await each.hasAll();
  for (const each of readers) each.leave();
});
