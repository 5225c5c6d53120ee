import { afterEach, expect, vi } from 'vitest';
import type { Role } from '#kernel/base/events/fields.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { policyOf } from '#shared/policy.ts';
import {
  allEvents,
  by,
  type CommandSide,
  createCommandDatabase,
  Died,
  mortal,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { later } from '../../test/engines/later.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { bank } from '../../test/toy/bank.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';

const [[, startLog]] = LOG_ENGINES.filter(([name]) => /postgres/i.test(name)) as [
  (typeof LOG_ENGINES)[number],
];
const others = LOG_ENGINES.filter(([name]) => !/postgres/i.test(name));
const policy = policyOf(bank);

const test = processes
  .extend('databaseOptions', { scope: 'file' }, { startLog })
  .extend('sideOptions', { scope: 'file' }, { domain: bank })
  .extend('bank', { scope: 'file' }, async ({ side }) => {
    const holder = await registerUser(side, { role: 'member' as Role });
    const give = async (command: Command, to: CommandSide = side, more = {}) =>
      to.send(command as never, by(system, more));
    const open = async (balance: number, holderId = holder) =>
      (await give({ type: 'OpenPurse', holderId, balance })).id;
    const plan = async (fromId: number, toId: number, amount: number, more = {}) =>
      (await give({ type: 'PlanTransfer', fromId, toId, amount, ...more })).id;
    /** The balances after each event, and the events that belong to no whole transfer. */
    const replayed = async () => {
      const balances = new Map<number, number>();
      const events = (await allEvents(side)) as readonly { type: string; data: Record<string, number> }[];
      for (const { type, data } of events)
        if (type === 'purse.opened' || type === 'purse.changed')
          balances.set(data.purseId as number, data.balance as number);
      return balances;
    };
    return { holder, give, open, plan, replayed };
  });

afterEach(() => {
  vi.useRealTimers();
});

const member = (userId: number) =>
  ({
    ...{ kind: 'user', policy, userId, role: 'member', client: 'test' },
    scopes: new Set(policy.scopes),
  }) as never;

test('a command changes several aggregates in one append, with one request and correlation', async ({
  side,
  bank: { give, open, plan, replayed },
}) => {
  const [from, to] = [await open(100), await open(0)];
  const transferId = await plan(from, to, 60);
  const { version } = await give({ type: 'ExecuteTransfer', transferId });
  expect(version).toBe(2);
  const last = (await allEvents(side)).slice(-3);
  expect(last.map(({ type }) => type)).toEqual(['purse.changed', 'purse.changed', 'transfer.done']);
  expect(
    new Set(last.map(({ metadata }) => `${metadata.request} ${metadata.correlation} ${metadata.at}`)).size,
  ).toBe(1);
  const balances = await replayed();
  expect([balances.get(from), balances.get(to)]).toEqual([40, 60]);
});

test('a creation changes several aggregates as well', async ({ bank: { open, plan, replayed } }) => {
  const [from, to] = [await open(100), await open(0)];
  await plan(from, to, 60, { execute: true });
  const balances = await replayed();
  expect([balances.get(from), balances.get(to)]).toEqual([40, 60]);
});

test('the invariants of each changed aggregate hold, over references that only they ask about', async ({
  bank: { give, open, plan, replayed },
}) => {
  const [from, to, rich] = [await open(10), await open(0), await open(500)];
  const transferId = await plan(from, to, 60);
  const execute = () => give({ type: 'ExecuteTransfer', transferId });
  await expect(execute()).rejects.toMatchObject({
    code: 'purse_not_covered',
    message: 'The purse is not covered.',
  });
  await give({ type: 'GuaranteePurse', purseId: from, guarantorId: rich });
  await execute();
  const back = await plan(rich, to, 480);
  await expect(give({ type: 'ExecuteTransfer', transferId: back })).rejects.toMatchObject({
    code: 'purse_not_small',
  });
  const much = await plan(from, rich, 1_000);
  await expect(give({ type: 'ExecuteTransfer', transferId: much })).rejects.toMatchObject({
    code: 'invalid_command',
  });
  const balances = await replayed();
  expect([balances.get(from), balances.get(to), balances.get(rich)]).toEqual([-50, 60, 500]);
});

test('the limits of each changed aggregate hold', async ({ bank: { give, open, plan } }) => {
  const [one, two] = [await open(1), await open(1)];
  const issue = async (to: number) => give({ type: 'IssueTransfer', transferId: await plan(one, to, 7) });
  await issue(one);
  await expect(issue(two)).rejects.toMatchObject({ code: 'purse_card_taken' });
  await expect(issue(one)).resolves.toMatchObject({ version: 2 });
});

test('callers change no aggregate that they may not read, and need no right to its commands', async ({
  side,
  bank: { holder, give, open, plan, replayed },
}) => {
  const other = await registerUser(side, { role: 'member' as Role });
  const [mine, theirs] = [await open(100), await open(0, other)];
  const transferId = await plan(mine, theirs, 60);
  const command = { type: 'ExecuteTransfer', transferId } as never;
  await expect(side.send(command, by(member(holder)))).rejects.toMatchObject({
    code: 'invalid_command',
    details: { errors: [{ pointer: '/toId', detail: 'There is no such purse that you may read.' }] },
  });
  expect((await replayed()).get(theirs)).toBe(0);
  await give({ type: 'ClosePurse', purseId: mine });
  const own = await open(0);
  const between = await plan(mine, own, 60);
  await side.send({ type: 'ExecuteTransfer', transferId: between } as never, by(member(holder)));
  expect((await replayed()).get(own)).toBe(60);
});

test('concurrent transfers of two processes lose nothing', async ({
  other,
  side,
  bank: { give, open, replayed, plan },
}) => {
  const random = createRandom(SEED);
  const purses = await Promise.all([200, 200, 200].map((balance) => open(balance)));
  for (let round = 0; round < 8; round += 1) {
    const planned = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const [from = 0, to = 0] = [purses[index % 3], purses[(index + 1 + (random() > 0.5 ? 1 : 0)) % 3]];
        return plan(from, to, 1 + index * 20);
      }),
    );
    await Promise.all(
      planned.map((transferId, index) =>
        give({ type: 'ExecuteTransfer', transferId }, index % 2 === 0 ? side : other).catch(
          (error: unknown) => {
            if (!(error instanceof Rejection)) throw error;
          },
        ),
      ),
    );
    const balances = await replayed();
    expect(purses.reduce((sum, id) => sum + (balances.get(id) ?? 0), 0)).toBe(600);
    expect(purses.every((id) => (balances.get(id) ?? 0) >= 0)).toBe(true);
  }
  const done = (await allEvents(side)).filter(({ type }) => (type as string) === 'transfer.done');
  expect(done.length).toBeGreaterThan(20);
});

test('a command of a process that died runs once for every aggregate, or not at all', async ({
  database,
  side,
  bank: { give, open, plan, replayed },
}) => {
  for (const when of ['before', 'after'] as const) {
    const [from, to] = [await open(100), await open(0)];
    const transferId = await plan(from, to, 60);
    await using dying = await database.open({
      wrapLog: mortal((stream) => (stream.startsWith('transfer-') ? when : undefined)),
      domain: bank,
    });
    const more = { idempotencyKey: `transfer-${transferId}` };
    await expect(give({ type: 'ExecuteTransfer', transferId }, dying, more)).rejects.toThrow(Died);
    expect((await replayed()).get(to)).toBe(when === 'before' ? 0 : 60);
    // Long enough for the first process to count as dead.
    later(60_000);
    const { version } = await give({ type: 'ExecuteTransfer', transferId }, side, more);
    vi.useRealTimers();
    expect(version).toBe(2);
    const balances = await replayed();
    expect([balances.get(from), balances.get(to)], when).toEqual([40, 60]);
  }
});

test.each(others)('%s refuses it at start, with a solution', async (_, start) => {
  await using away = await createCommandDatabase({ startLog: start });
  await expect(away.open({ domain: bank })).rejects.toThrow(
    'transfer: the command execute also changes the target of from, but EventStoreDB appends to one stream at a time: keep the event log in PostgreSQL, or send the other aggregate a command in `react`.',
  );
});
