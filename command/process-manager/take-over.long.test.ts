// Over 200 lines, because it is one topic: declarations that replace each other across releases, each case in
// its own environment.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { followingOf } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createLog } from '#process/observability/log.ts';
import { REAL_TIME, realTimeAhead } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { holdCheckpoint, readStillness } from '#shared/follower/checkpoint.ts';
import { demandMoving } from '#shared/follower/observe-follower.ts';
import { ageLog } from '../../test/engines/age-log.ts';
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
import { declareReactions, forgetUnseen, takeBack } from './declaration.ts';
import { type Fence, Overtaken } from './fence.ts';

const HOUR = 3_600_000;
const { request } = requests.kinds;
if (!request?.timers.remind || !request.timers.breach) throw new Error('They are declared');
const { remind, breach } = request.timers;
const timed = (timers: typeof request.timers): Domain => ({
  ...requests,
  kinds: { ...requests.kinds, request: { ...request, timers } },
});
const former = timed({ remind });
const next = timed({ remind, breach });
const without = timed({});

let database: CommandDatabase;
let aheadMs = 0;
const clock = realTimeAhead(() => aheadMs);
const open = (domain: Domain) => database.open({ domain, clock });
beforeEach(async () => {
  aheadMs = 0;
  database = await createCommandDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

const ask = async (side: CommandSide): Promise<StreamName> => {
  const customerId: UserId = await registerUser(side, { role: 'customer' as never });
  const { id } = await side.send({ type: 'AskRequest', customerId, subject: 'x' } as never, by(system));
  return `request-${id}` as StreamName;
};
const untilTimers = (side: CommandSide, stream: StreamName, ...names: readonly string[]) =>
  until(
    async () =>
      (
        await side.pool.query<{ name: string }>('select name from process_manager.timer where stream = $1', [
          stream,
        ])
      ).rows,
    (rows) =>
      rows
        .map(({ name }) => name)
        .toSorted()
        .join() === names.join(),
  );
const untilNamed = (side: CommandSide, stream: StreamName, name: string) =>
  until(
    async () => (await Array.fromAsync(side.eventLog.read(stream))).flat().map(({ type }) => type as string),
    (types) => types.includes(`request.${name}`),
  );
/** Simulates that the process with the declaration stopped that long ago. */
const forgetSeen = (side: Pick<CommandSide, 'pool'>) =>
  side.pool.query(`update process_manager.reacting set seen_at = seen_at - interval '20 seconds'`);

/** Takes the lease like a new process, and returns its epoch. */
const takeLease = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<Pick<Fence, 'epoch'>>(
    `insert into public.lease as held (name, owner, epoch, expires_at) values ('process-manager-parked', gen_random_uuid(), 1, clock_timestamp())
     on conflict (name) do update set epoch = held.epoch + 1, owner = excluded.owner, expires_at = clock_timestamp() + interval '4 seconds' returning epoch`,
  );
  return rows[0]?.epoch ?? 0;
};

test('a process continues once no process uses the other declaration', async () => {
  await using side = await open(former);
  const stream = await ask(side);
  await untilTimers(side, stream, 'remind');
  await (await open(next))[Symbol.asyncDispose]();
  await forgetSeen(side);
  aheadMs += 73 * HOUR;
  await untilNamed(side, stream, 'reminded');
});

test.each([
  ['of the former release', former],
  ['without any timer', without],
])('a process %s that was restarted in between removes nothing permanently', async (_, between) => {
  await using side = await open(next);
  const stream = await ask(side);
  await untilTimers(side, stream, 'breach', 'remind');
  await (await open(between))[Symbol.asyncDispose]();
  await forgetSeen(side);
  await untilTimers(side, stream, 'breach', 'remind');
  aheadMs += 41 * HOUR;
  await untilNamed(side, stream, 'breached');
});

test('the declaration of the latest process applies at once, without an event, while that process works', async () => {
  await using first = await open(former);
  const stream = await ask(first);
  await untilTimers(first, stream, 'remind');
  await using _second = await open(next);
  await untilTimers(first, stream, 'breach', 'remind');
  await forgetSeen(first);
  aheadMs += 41 * HOUR;
  await untilNamed(first, stream, 'breached');
  const { rows } = await first.pool.query(
    `select fingerprint, seen_at > clock_timestamp() - interval '5 seconds' as "isSeen" from process_manager.reacting`,
  );
  expect(rows).toEqual([{ fingerprint: followingOf(next)?.fingerprint, isSeen: true }]);
});

test('a process without the lease never takes back its declaration, however long the leader is busy', async () => {
  await (await open(without))[Symbol.asyncDispose]();
  // No process uses any declaration.
  const url = database.settings.DATABASE_URL ?? '';
  await using pool = openPool({ url, applicationName: 'test', connectionsMax: 2 });
  await using eventLog = await openEventLog({ url, clock: REAL_TIME });
  const side = { pool, eventLog };
  await declareReactions(side.pool, side.eventLog, followingOf(next));
  await forgetSeen(side);
  const declared = followingOf(former);
  if (declared === undefined) throw new Error('It has a timer');
  const fingerprint = async () =>
    (await side.pool.query('select fingerprint from process_manager.reacting')).rows;
  const epoch = await takeLease(side.pool);
  await takeBack(side.pool, side.eventLog, { fingerprint: declared.fingerprint, epoch: epoch - 1 });
  expect(await fingerprint()).toEqual([{ fingerprint: followingOf(next)?.fingerprint }]);
  await takeBack(side.pool, side.eventLog, { fingerprint: declared.fingerprint, epoch });
  expect(await fingerprint()).toEqual([{ fingerprint: declared.fingerprint }]);
});

test('a process without timers releases the lease while another may use its declaration', async () => {
  await (await open(without))[Symbol.asyncDispose]();
  await using pool = openPool({
    url: database.settings.DATABASE_URL ?? '',
    applicationName: 'test',
    connectionsMax: 2,
  });
  await using eventLog = await openEventLog({ url: database.settings.DATABASE_URL ?? '', clock: REAL_TIME });
  const epoch = await takeLease(pool);
  await forgetUnseen(pool, epoch);
  await declareReactions(pool, eventLog, followingOf(next));
  const taken = await takeLease(pool);
  await expect(forgetUnseen(pool, taken)).rejects.toThrow(Overtaken);
  await forgetSeen({ pool });
  await expect(forgetUnseen(pool, epoch)).rejects.toThrow(Overtaken);
  await forgetUnseen(pool, taken);
  expect((await pool.query('select fingerprint from process_manager.reacting')).rows).toEqual([
    { fingerprint: '' },
  ]);
});

test('a follower that reads the log again from the start does not count as stalled', async () => {
  const side = await open(former);
  await untilTimers(side, await ask(side), 'remind');
  await side[Symbol.asyncDispose]();
  await using later = await open(without);
  await declareReactions(later.pool, later.eventLog, followingOf(former));
  await later.pool.query(
    `insert into public.follower_checkpoint (follower, log, position, epoch, moved_at, moved_position)
     values ('reactions', $1, 3, 0, clock_timestamp() - interval '5 minutes', 3)`,
    [later.eventLog.identity],
  );
  await declareReactions(later.pool, later.eventLog, followingOf(next));
  const [still] = await readStillness(later.pool, ['reactions']);
  expect(still).toMatchObject({ position: 0 });
  expect(still?.stillSeconds).toBeLessThan(60);
  expect(still?.stillSeconds).toBeGreaterThanOrEqual(0);
});

test('a declaration and a write of the follower wait for each other', async () => {
  const side = await open(former);
  await untilTimers(side, await ask(side), 'remind');
  await side[Symbol.asyncDispose]();
  await using later = await open(former);
  await untilTimers(later, await ask(later), 'remind');
  let declaring: Promise<void> | undefined;
  await inTransaction(later.pool, async (connection) => {
    await holdCheckpoint(connection, 'reactions');
    declaring = declareReactions(later.pool, later.eventLog, followingOf(next));
    await until(
      () =>
        later.pool.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%follower_checkpoint%for update'`,
        ),
      ({ rowCount }) => rowCount === 1,
    );
    await connection.query('select from process_manager.reacting for share');
  });
  await declaring;
});

test('a release without timers lists none, and leaves unsent commands to the next one with timers', async () => {
  const side = await open(former);
  const [stream, running] = [await ask(side), await ask(side)];
  await untilTimers(side, stream, 'remind');
  await untilTimers(side, running, 'remind');
  await side[Symbol.asyncDispose]();
  await using between = await open(without);
  await between.pool.query(
    `with spent as (
       insert into process_manager.spent_timer (stream, name, cause_id) select stream, 'remind', event_id from (values ($1, $2::uuid)) as t (stream, event_id) returning *)
     insert into process_manager.task (task, stream, name, cause_id, cause_metadata, attempts, next_at)
     select 'run', stream, 'timer remind', cause_id, '{}', 1, clock_timestamp() + interval '4 minutes' from spent`,
    [stream, (await Array.fromAsync(between.eventLog.read(stream))).flat()[0]?.id],
  );
  await between.pool.query(
    `insert into process_manager.timer (stream, name, cause_id, cause_metadata, left_ms) values ($1, 'remind', gen_random_uuid(), '{}', 1)`,
    [running],
  );
  await between.pool.query(`update process_manager.reacting set fingerprint = $1`, [
    followingOf(former)?.fingerprint,
  ]);
  await declareReactions(between.pool, between.eventLog, undefined);
  await untilTimers(between, running);
  await using after = await open(former);
  aheadMs += 73 * HOUR;
  await untilNamed(after, stream, 'reminded');
});

test('blocked reactions are reported, and keep the process in service', async () => {
  await using side = await open(former);
  await untilTimers(side, await ask(side), 'remind');
  await side.pool.query(
    `create function public.fail() returns trigger language plpgsql as $$ begin raise 'no room for marks'; end $$;
     create trigger failing before insert on process_manager.timer_mark for each row execute function public.fail()`,
  );
  await ask(side);
  const head = await side.eventLog.head();
  await until(
    () =>
      side.pool.query(
        `select from public.follower_checkpoint where follower = 'process-manager' and position >= $1`,
        [head],
      ),
    ({ rowCount }) => rowCount === 1,
  );
  await ageLog(side.pool, 3);
  const told = async () => {
    await side.pool.query(
      `update public.follower_checkpoint set moved_at = clock_timestamp() - interval '3 minutes' where follower = 'reactions'`,
    );
    return demandMoving(side.metrics, { isRequired: false }).catch(({ message }: Error) => message);
  };
  await until(
    told,
    (message) => message?.startsWith('The follower reactions has made no progress for ') ?? false,
  );
  await expect(demandMoving(side.metrics, { isRequired: true })).resolves.toBeUndefined();
});

test('a process without timers removes those of a former release, so that they start afresh later', async () => {
  await using side = await open(without);
  const later = await open(next);
  const stream = await ask(later);
  await untilTimers(later, stream, 'breach', 'remind');
  await later[Symbol.asyncDispose]();
  await forgetSeen(side);
  const left = await until(
    async () => {
      const { rows } = await side.pool.query<{ fingerprint: string; places: number; timers: number }>(
        `select fingerprint, (select count(*)::int from public.follower_checkpoint where follower = 'reactions') as places,
           (select count(*)::int from process_manager.timer) as timers from process_manager.reacting`,
      );
      return rows[0];
    },
    (row) => row?.fingerprint === '',
  );
  expect(left).toEqual({ fingerprint: '', places: 0, timers: 0 });
});

test('a process that waits for another declaration logs it once, and once that it resumes', async () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line).msg) },
  });
  await using side = await database.open({ domain: former, clock, log });
  const stream = await ask(side);
  await untilTimers(side, stream, 'remind');
  await declareReactions(side.pool, side.eventLog, followingOf(next));
  // Each retry takes a new lease.
  const tries = async () => {
    await side.pool.query('update process_manager.reacting set seen_at = clock_timestamp()');
    const { rows } = await side.pool.query<{ epoch: number }>(
      `select epoch from public.lease where name in ('reactions', 'process-manager-parked')`,
    );
    return rows.map(({ epoch }) => epoch);
  };
  const before = Math.max(...(await tries()));
  await until(tries, (epochs) => Math.min(...epochs) > before + 3);
  await forgetSeen(side);
  await untilTimers(side, stream, 'remind');
  expect(lines).toEqual([
    'Reactions and timers follow the declaration of another release; this process waits.',
    'Reactions and timers follow the declaration of this process again.',
  ]);
});
