import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { openDeliveryQueue } from './open.ts';
import { LASTING_MS, QUIET_MS } from './troubles.ts';

const resources = new AsyncDisposableStack();
let url: string;
beforeAll(async () => {
  url = resources.use(await createDatabase()).url;
});
afterAll(() => resources.disposeAsync());

const openLogged = async () => {
  const lines: { msg: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const clock = createTestClock();
  const queue = await openDeliveryQueue({ url, name: 'troubled', log, clock });
  const countLogged = (start: string) => lines.filter(({ msg }) => msg.startsWith(start)).length;
  return { queue, countLogged, clock, [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose]() };
};

const openAdministrator = () => openPool({ url, applicationName: 'administrator', connectionsMax: 1 });

test('a queue whose tables are gone is reported once, and once more when it works again', async () => {
  await using administrator = openAdministrator();
  await using opened = await openLogged();
  const begun: WebhookId[] = [];
  await using _worker = await opened.queue.work(async (webhookId) => void begun.push(webhookId), {
    concurrency: 4,
  });
  const id = 1 as WebhookId;
  await opened.queue.enqueue([id]);
  await until(
    () => begun.length,
    (count) => count === 1,
  );
  await administrator.query('alter schema bullmq rename to bullmq_away');
  for (let times = 0; times < 50; times += 1) await expect(opened.queue.enqueue([id])).rejects.toThrow();
  await until(
    () => opened.countLogged('The webhook queue fails'),
    (count) => count > 0,
    20_000,
  );
  await administrator.query('alter schema bullmq_away rename to bullmq');
  await opened.queue.enqueue([id]);
  await until(
    () => begun.length,
    (count) => count > 1,
    20_000,
  );
  await opened.clock.advanceUntil(
    QUIET_MS,
    () => opened.countLogged('The webhook queue works again'),
    (count) => count === 1,
  );
  expect(opened.countLogged('The webhook queue fails')).toBe(1);
});

test('a worker ends in time while the queue is broken', async () => {
  await using administrator = openAdministrator();
  await using opened = await openLogged();
  const begun: WebhookId[] = [];
  const worker = await opened.queue.work(async (webhookId) => void begun.push(webhookId), { concurrency: 4 });
  await opened.queue.enqueue([1 as WebhookId]);
  await until(
    () => begun.length,
    (count) => count === 1,
  );
  await administrator.query('alter schema bullmq rename to bullmq_away');
  await until(
    () => opened.countLogged('The webhook queue fails'),
    (count) => count > 0,
    20_000,
  );
  const beganMs = performance.now();
  await worker[Symbol.asyncDispose]();
  await opened.queue[Symbol.asyncDispose]();
  expect(performance.now() - beganMs).toBeLessThan(scaled(8_000));
  await administrator.query('alter schema bullmq_away rename to bullmq');
});

test('while workers keep failing, the queue is not ready, even if it answers', async () => {
  await using administrator = openAdministrator();
  await using opened = await openLogged();
  await using _worker = await opened.queue.work(async () => {}, { concurrency: 1 });
  await opened.queue.check();
  // Like for a role without the right to execute it: the function exists, and fails.
  await administrator.query(`alter function bullmq.next_delay set search_path = nowhere`);
  await administrator.query(`alter function bullmq.move_to_active set search_path = nowhere`);
  for (let passedMs = 0; passedMs <= LASTING_MS; passedMs += QUIET_MS - 1) {
    // Each failure begins the quiet time anew.
    await until(opened.clock.pending, (pending) => pending.includes(QUIET_MS), 60_000);
    await opened.clock.advance(QUIET_MS - 1);
  }
  const said = () =>
    opened.queue.check().then(
      () => 'ready',
      (error: Error) => error.message,
    );
  expect(await until(said, (text) => text !== 'ready', 60_000)).toContain('The webhook queue fails');
  // Earlier tests may have left jobs.
  expect(await opened.queue.waiting()).toBeGreaterThanOrEqual(0);
});

test('a later release may change the arguments of a queue function; a missing one is reported', async () => {
  await using administrator = openAdministrator();
  await using opened = await openLogged();
  const { rows } = await administrator.query<{ name: string; whole: string }>(
    `select proname as name, oid::regprocedure::text as whole from pg_proc
     where pronamespace = 'bullmq'::regnamespace and proname not like '%count%' and prokind = 'f' order by 1 limit 1`,
  );
  const [{ name, whole } = { name: '', whole: '' }] = rows;
  await administrator.query(
    `create function bullmq.${name}(later box) returns void language sql as 'select'`,
  );
  await administrator.query(`drop function ${whole} cascade`);
  await opened.queue.check();
  await administrator.query(`drop function bullmq.${name}(box)`);
  await expect(opened.queue.check()).rejects.toThrow('lacks functions');
});
