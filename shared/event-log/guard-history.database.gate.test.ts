import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { cutLog } from '../../test/engines/cut-log.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { type EventLog, NO_STREAM, START } from './event-log.ts';
import { guardHistory } from './guard-history.ts';

const STEP_MS = 200;

const append = async (eventLog: EventLog, count = 1) => {
  const ids = Array.from({ length: count }, () => randomUUID() as EventId);
  const stream = `article-${randomUUID()}` as StreamName;
  const appended = await eventLog.append(
    stream,
    NO_STREAM,
    ids.map((id) => ({ id, type: 'tried', data: {}, metadata: {} })),
  );
  return { ...appended, ids };
};

/** Two processes with one log; one of them records its log lines. */
const openProcesses = async ({ isMoving = true } = {}) => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 }));
  // Looks and repeated questions take a twentieth of their time.
  const clock = createTestClock();
  const moving: AsyncDisposable[] = [];
  opening.defer(async () => void (await Promise.all(moving.map((each) => each[Symbol.asyncDispose]()))));
  const move = () => void moving.push(clock.keepMoving(STEP_MS));
  if (isMoving) move();
  const logged: string[] = [];
  const open = async () =>
    guardHistory(await openEventLog({ url: database.url, clock: REAL_TIME }), {
      log: { error: (_: unknown, text?: string) => logged.push(text ?? '') } as never,
      clock,
    });
  const eventLog = opening.use(await open());
  const other = opening.use(await openEventLog({ url: database.url, clock: REAL_TIME }));
  const resources = opening.move();
  return { pool, open, eventLog, other, logged, move, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

test('an append is refused, and stores nothing, once the log has lost an event that its process has seen', async () => {
  await using processes = await openProcesses();
  const kept = await append(processes.eventLog);
  await append(processes.eventLog, 2);
  await cutLog(processes.pool, kept.position);
  // Others have written since, so the seen position exists again.
  await append(processes.other, 5);
  const head = await processes.other.head();
  await expect(append(processes.eventLog)).rejects.toMatchObject({ code: 'log_went_back' });
  expect(await processes.other.head()).toBe(head);
  await expect(processes.eventLog.demandHistory()).rejects.toMatchObject({ code: 'log_went_back' });
  expect(processes.logged).toHaveLength(1);
  expect(processes.logged[0]).toContain('docs/runbooks.md');
});

test('neither a running nor a new follower receives events of another history', async () => {
  await using processes = await openProcesses();
  const kept = await append(processes.eventLog);
  const heard: EventId[] = [];
  const following = (async () => {
    for await (const page of processes.eventLog.follow(START, AbortSignal.timeout(60_000)))
      heard.push(...page.map(({ id }) => id));
  })();
  following.catch(() => {});
  const lost = await append(processes.other, 2);
  await until(
    () => heard.length,
    (length) => length === 3,
  );
  await cutLog(processes.pool, kept.position);
  await append(processes.other, 4);
  await expect(following).rejects.toMatchObject({ code: 'log_went_back', position: lost.position });
  expect(heard).toEqual([...kept.ids, ...lost.ids]);
  await expect(
    Array.fromAsync(processes.eventLog.follow(START, AbortSignal.timeout(1))),
  ).rejects.toMatchObject({
    code: 'log_went_back',
  });
});

test('a process that only waits notices within seconds, even if no other event took the place', async () => {
  await using processes = await openProcesses();
  const kept = await append(processes.other);
  await append(processes.other, 2);
  // The first process sees the events by itself.
  await until(
    () => processes.eventLog.seen?.position ?? START,
    (position) => position === kept.position + 2,
  );
  await cutLog(processes.pool, kept.position);
  await until(
    () => processes.logged.length,
    (logged) => logged === 1,
  );
});

test('a follower is stopped if the event at its checkpoint is another one', async () => {
  await using processes = await openProcesses();
  const { position } = await append(processes.other, 2);
  await append(processes.other);
  const signal = AbortSignal.timeout(60_000);
  const follow = (id: EventId) => processes.other.follow(position, signal, id)[Symbol.asyncIterator]().next();
  await expect(follow(randomUUID() as EventId)).rejects.toMatchObject({ code: 'log_went_back' });
  const id = await processes.other.eventAt(position);
  expect((await follow(id as EventId)).value).toHaveLength(1);
  expect(await processes.other.eventAt((position + 2) as Position)).toBeUndefined();
});

const writtenDown = async ({ pool }: Pick<Awaited<ReturnType<typeof openProcesses>>, 'pool'>) =>
  (await pool.query<{ log: string }>('select log from event_log.lost_history')).rows.map(({ log }) => log);

test('a loss is recorded in the log, and then every process learns of it', async () => {
  await using processes = await openProcesses();
  const kept = await append(processes.eventLog);
  await append(processes.eventLog, 2);
  await cutLog(processes.pool, kept.position);
  await expect(append(processes.eventLog)).rejects.toMatchObject({ code: 'log_went_back' });
  await until(
    () => writtenDown(processes),
    (logs) => logs.includes(processes.eventLog.identity),
  );
});

test('a process that has seen none of the lost events stops as well, once another has noticed', async () => {
  await using processes = await openProcesses({ isMoving: false });
  const kept = await append(processes.eventLog);
  await append(processes.eventLog, 2);
  await cutLog(processes.pool, kept.position);
  await using newcomer = await processes.open();
  await newcomer.demandHistory();
  processes.move();
  await expect(append(processes.eventLog)).rejects.toMatchObject({ code: 'log_went_back' });
  await until(
    () => processes.logged.length,
    (logged) => logged === 2,
  );
  await expect(append(newcomer)).rejects.toMatchObject({ code: 'log_went_back' });
});

test('a checkpoint of another history stops its process, but marks nothing while the log has all that the process has seen', async () => {
  await using processes = await openProcesses();
  {
    await using doubted = await processes.open();
    const { position } = await append(doubted);
    const following = Array.fromAsync(
      doubted.follow(position, AbortSignal.timeout(60_000), randomUUID() as EventId),
    );
    await expect(following).rejects.toMatchObject({ code: 'log_went_back' });
  }
  expect(processes.logged).toHaveLength(1);
  expect(await writtenDown(processes)).toEqual([]);
});
