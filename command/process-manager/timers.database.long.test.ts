// Over 200 lines, because all cases move the clock of the command side that is set up here.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventId, StreamName, UserId } from '#kernel/base/brands.ts';
import type { Command } from '#kernel/decide/decide.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { realTimeAhead } from '#shared/clock/real-time.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { callAt } from '../../test/engines/call-line.ts';
import {
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { requests } from '../../test/toy/requests.ts';
import { until } from '../../testing/until.ts';
import { createStates } from '../states.ts';
import type { Fence } from './fence.ts';
import { createLook } from './timers.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let database: CommandDatabase;
let side: CommandSide;
let customer: UserId;
let aheadMs = 0;
/** A clock that the test moves. */
const clock = realTimeAhead(() => aheadMs);
const open = (domain: Domain = requests) => database.open({ domain, clock });
beforeAll(async () => {
  database = await createCommandDatabase();
  side = await open();
  customer = await registerUser(side, { role: 'customer' as never });
});
afterAll(async () => {
  await side?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const give = async (type: string, requestId?: number, form: object = {}): Promise<number> =>
  (
    await side.send(
      (requestId === undefined
        ? { type, customerId: customer, subject: 'x' }
        : { type, requestId, ...form }) as Command as never,
      by(system),
    )
  ).id;
const ask = () => give('AskRequest');
const namesOf = async (id: number) =>
  (await Array.fromAsync(side.eventLog.read(`request-${id}` as StreamName)))
    .flat()
    .map(({ type }) => type.split('.')[1]);
const untilNames = async (id: number, ...names: readonly string[]) =>
  expect(
    await until(
      () => namesOf(id),
      (found) => found.length >= names.length,
    ),
  ).toEqual(names);
const rowsOf = async (id: number) =>
  (
    await side.pool.query<{ name: string }>(
      `select * from process_manager.timer where stream = $1 order by name`,
      [`request-${id}`],
    )
  ).rows;
const untilTimers = (id: number, ...names: readonly string[]) =>
  until(
    async () => (await rowsOf(id)).map(({ name }) => name).join(),
    (found) => found === names.join(),
  );
/** Waits until no timer needs a look, and no due task remains. */
const settled = async () => {
  const head = await side.eventLog.head();
  await until(
    async () => {
      const { rows } = await side.pool.query<{ isDone: boolean }>(
        `select position >= $1 and not exists (select from process_manager.task) and not exists (select from process_manager.timer_mark)
           and not exists (select from process_manager.timer where due_at <= clock_timestamp() + $2 * interval '1 millisecond') as "isDone"
         from public.follower_checkpoint where follower = 'reactions'`,
        [head, aheadMs],
      );
      return rows[0]?.isDone;
    },
    (isDone) => isDone === true,
  );
};

test('a timer sends its command when due, and the resulting event starts another timer', async () => {
  const id = await ask();
  await untilTimers(id, 'breach', 'remind');
  aheadMs += 2 * DAY;
  await untilNames(id, 'asked', 'breached');
  aheadMs += DAY + HOUR;
  await untilNames(id, 'asked', 'breached', 'reminded');
  aheadMs += DAY + HOUR;
  await untilNames(id, 'asked', 'breached', 'reminded', 'escalated');
  await untilTimers(id);
  const [, , reminded] = (await Array.fromAsync(side.eventLog.read(`request-${id}` as StreamName))).flat();
  const [asked] = (await Array.fromAsync(side.eventLog.read(`request-${id}` as StreamName))).flat();
  expect(reminded?.metadata).toMatchObject({ actor: 'system:process-manager', $causationId: asked?.id });
});

test('a timer with a false condition has no effect when due, and an ended aggregate has no timers', async () => {
  const [solved, closed] = [await ask(), await ask()];
  await give('SolveRequest', solved);
  await give('CloseRequest', closed);
  await untilTimers(closed);
  aheadMs += 4 * DAY;
  await untilTimers(solved);
  // The timer stays without effect when the condition becomes true again.
  await give('ReopenRequest', solved);
  await settled();
  expect([await namesOf(solved), await namesOf(closed)]).toEqual([
    ['asked', 'solved', 'reopened'],
    ['asked', 'closed'],
  ]);
});

test('a paused timer does not run, and the command line shows it', async () => {
  const id = await ask();
  await give('ReturnRequest', id);
  await until(
    () => rowsOf(id),
    (rows) => rows.some((row) => 'left_ms' in row && row.left_ms !== null),
  );
  expect(await annals('timers', `request-${id}`)).toMatch(
    new RegExp(
      `^\\S+Z  request-${id}  remind, because of event \\S+\\npaused, 1(43|44)\\d\\d\\d\\S* s left  request-${id}  breach, because`,
    ),
  );
  aheadMs += 2 * DAY;
  await settled();
  expect(await namesOf(id)).toEqual(['asked', 'returned']);
  await give('AnswerRequest', id);
  await until(
    () => annals('timers', `request-${id}`, '--json'),
    (shown) => !shown.includes('"dueAt":null'),
  );
  aheadMs += 41 * HOUR;
  await untilNames(id, 'asked', 'returned', 'answered', 'reminded', 'breached');
  expect(await annals('timers', 'request-1')).toBe('No timer is running.');
});

const annals = async (...args: readonly string[]): Promise<string> => {
  const { output, complaint } = await callAt({ domain: requests, environment: database.settings }, args);
  return [output, complaint].filter(Boolean).join('\n');
};

test('clock jumps and a failover never send a command twice', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, ask));
  await using _second = await open();
  await settled();
  aheadMs += 2 * DAY;
  for (const id of ids) await untilNames(id, 'asked', 'breached');
  aheadMs -= 2 * DAY;
  await side[Symbol.asyncDispose]();
  side = await open();
  aheadMs += 2 * DAY;
  for (const id of ids) await give('ReturnRequest', id);
  await settled();
  for (const id of ids) expect(await namesOf(id)).toEqual(['asked', 'breached', 'returned']);
});

test('lost timers are rebuilt from the log, and sent commands are not sent again', async () => {
  const [running, done] = [await ask(), await ask()];
  await settled();
  const before = await rowsOf(running);
  await side[Symbol.asyncDispose]();
  side = await open();
  await side.pool.query('truncate process_manager.timer; delete from process_manager.reacting');
  await side[Symbol.asyncDispose]();
  side = await open();
  await settled();
  expect(await rowsOf(running)).toEqual(before);
  aheadMs += 2 * DAY;
  await untilNames(done, 'asked', 'breached');
});

test('a service level follows the priority, and breaches at once if its time has passed', async () => {
  const id = await ask();
  await untilTimers(id, 'breach', 'remind');
  aheadMs += 5 * HOUR;
  await give('ChangeRequest', id, { priority: 'urgent' });
  await untilNames(id, 'asked', 'changed', 'breached');
  await untilTimers(id, 'remind');
});

test('a timer before a declared time follows the field', async () => {
  const id = await ask();
  const in3Hours = new Date(Date.now() + aheadMs + 3 * HOUR).toISOString();
  await give('ChangeRequest', id, { promisedAt: in3Hours });
  await untilTimers(id, 'breach', 'remind', 'warn');
  await give('ChangeRequest', id, { promisedAt: null });
  await untilTimers(id, 'breach', 'remind');
  await give('ChangeRequest', id, { promisedAt: in3Hours });
  await untilTimers(id, 'breach', 'remind', 'warn');
  aheadMs += 2 * HOUR;
  await untilNames(id, 'asked', 'changed', 'changed', 'changed', 'escalated');
});

test('running timers follow the present declaration', async () => {
  const id = await ask();
  await untilTimers(id, 'breach', 'remind');
  await side[Symbol.asyncDispose]();
  const { request } = requests.kinds;
  if (!request?.timers.remind) throw new Error('They are declared');
  const { remind } = request.timers;
  const sooner = {
    ...request,
    timers: { remind: { ...remind, starts: { after: ['request.asked'], wait: { ms: HOUR } } } },
  };
  side = await open({ ...requests, kinds: { ...requests.kinds, request: sooner } });
  await untilTimers(id, 'remind');
  aheadMs += 2 * HOUR;
  await untilNames(id, 'asked', 'reminded');
});

test('a command that a guard refuses when due is not sent later', async () => {
  const { request } = requests.kinds;
  if (!request?.timers.remind || !request.commands.remind) throw new Error('They are declared');
  const { when: _, ...remind } = request.timers.remind;
  const guarded = {
    ...request,
    timers: { remind: { ...remind, when: undefined } },
    commands: { ...request.commands, remind: { ...request.commands.remind, when: 'open' } },
  };
  await side[Symbol.asyncDispose]();
  side = await open({ ...requests, kinds: { ...requests.kinds, request: guarded } });
  const id = await ask();
  await give('ReturnRequest', id);
  await untilTimers(id, 'remind');
  aheadMs += 4 * DAY;
  await untilTimers(id);
  await settled();
  await give('AnswerRequest', id);
  await side[Symbol.asyncDispose]();
  // Nor after another declaration, which recomputes every timer, whatever its new due time, nor after a
  // release without it.
  const { remind: given } = guarded.timers;
  const { breach } = request.timers;
  const withTimers = (timers: typeof request.timers) =>
    open({ ...requests, kinds: { ...requests.kinds, request: { ...guarded, timers } } });
  for (const timers of [
    { remind: { ...given, starts: { after: ['request.asked'], wait: { ms: 7 * DAY } } } },
    { breach },
    { remind: given },
  ] as readonly (typeof request.timers)[]) {
    if (!breach) throw new Error('It is declared');
    side = await withTimers(timers);
    await settled();
    expect((await rowsOf(id)).map(({ name }) => name)).not.toContain('remind');
    await side[Symbol.asyncDispose]();
  }
  aheadMs -= 4 * DAY;
  side = await withTimers({ remind: { ...given, pause: 'waiting' } });
  await settled();
  expect(await rowsOf(id)).toEqual([]);
  await side[Symbol.asyncDispose]();
  aheadMs += 8 * DAY;
  side = await withTimers({ remind: given });
  await settled();
  expect(await namesOf(id)).toEqual(['asked', 'returned', 'answered']);
});

test('an aggregate with unreadable events is parked with its timers, and delays no others', async () => {
  const damaged = 'request-77' as StreamName;
  const [asked] = (await Array.fromAsync(side.eventLog.read(`request-${await ask()}` as StreamName))).flat();
  if (asked === undefined) throw new Error('It was asked');
  const broken = {
    ...asked,
    id: crypto.randomUUID() as EventId,
    data: { requestId: 77, customerId: customer, subject: 7 },
  };
  await side.eventLog.append(damaged, NO_STREAM, [broken]);
  await until(
    () => annals('process-manager', 'parked'),
    (shown) => shown.includes('run (timers)  request-77'),
  );
  await untilTimers(await ask(), 'remind');
  await annals('process-manager', 'skip', damaged);
  expect(await annals('process-manager', 'parked')).toContain('skipped');
});

/** The fence of the process that holds the lease after its poll. */
const fenceNow = async (): Promise<Fence> => {
  const { rows } = await side.pool.query<Fence>(
    `select fingerprint, epoch from process_manager.reacting, public.lease where name = 'process-manager-parked'`,
  );
  const [fence] = rows;
  if (fence === undefined) throw new Error('It has begun');
  return fence;
};

test('a process that was paused during a poll of timers writes nothing after a failover', async () => {
  await side[Symbol.asyncDispose]();
  side = await open();
  const id = await ask();
  // The process has polled, so it holds the lease.
  await untilTimers(id, 'breach', 'remind');
  const fence = await fenceNow();
  const look = createLook({
    ...side,
    domain: requests,
    states: createStates({ log: side.eventLog, codec: side.codec }),
  } as never);
  await side.pool.query(`update process_manager.timer set due_at = '2100-01-01' where stream = $1`, [
    `request-${id}`,
  ]);
  const rowsBefore = await rowsOf(id);
  for (const lost of [{ epoch: fence.epoch - 1 }, { fingerprint: 'of another' }])
    await expect(look.at(`request-${id}` as StreamName, { ...fence, ...lost })).rejects.toThrow(
      'has taken over',
    );
  expect(await rowsOf(id)).toEqual(rowsBefore);
  await look.at(`request-${id}` as StreamName, fence);
  expect(await rowsOf(id)).not.toEqual(rowsBefore);
});

test('a timer whose event is recorded does not run again when its wait becomes longer', async () => {
  await side[Symbol.asyncDispose]();
  side = await open();
  const id = await ask();
  await untilTimers(id, 'breach', 'remind');
  aheadMs += 2 * DAY;
  await untilNames(id, 'asked', 'breached');
  const { request } = requests.kinds;
  if (!request?.timers.breach) throw new Error('It is declared');
  const longer = {
    ...request,
    timers: {
      ...request.timers,
      breach: { ...request.timers.breach, starts: { after: ['request.asked'], wait: { ms: 9 * DAY } } },
    },
  };
  await side[Symbol.asyncDispose]();
  side = await open({ ...requests, kinds: { ...requests.kinds, request: longer } });
  await untilTimers(id, 'remind');
});

test('a process that is paused during a write of timers does not block its successor', async () => {
  await side[Symbol.asyncDispose]();
  side = await open();
  const id = await ask();
  await untilTimers(id, 'breach', 'remind');
  const fence = await fenceNow();
  const [paused, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const connect = async () => {
    const connection = await side.pool.connect();
    connection.on('error', () => {});
    return {
      release: () => connection.release(true),
      async query(text: string, values?: unknown[]) {
        if (text.startsWith('delete from process_manager.timer where')) {
          paused.resolve();
          await going.promise;
        }
        return connection.query(text, values);
      },
    };
  };
  const pool = { query: side.pool.query.bind(side.pool), connect };
  const states = createStates({ log: side.eventLog, codec: side.codec });
  const looking = createLook({ ...side, pool, domain: requests, states } as never).at(
    `request-${id}` as StreamName,
    fence,
  );
  await paused.promise;
  const outcome = expect(looking).rejects.toThrow();
  await side.pool.query(
    `begin; set local statement_timeout = 10000;
     update public.lease set epoch = epoch + 1, expires_at = '-infinity' where name = 'process-manager-parked'; commit`,
  );
  going.resolve();
  await outcome;
});
