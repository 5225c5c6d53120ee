// Over 200 lines, because all cases share the dispatcher that is set up here.
import { expect } from 'vitest';
import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import { countWebhooks } from '#shared/webhooks/counts.ts';
import { listDeliveries } from '#shared/webhooks/deliveries.ts';
import { readHealthOfMany } from '#shared/webhooks/health.ts';
import { Died } from '../test/engines/command-side.ts';
import type { RunProcess } from '../test/engines/run-by-hand.ts';
import { test as base } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';
import type { Sender } from './deliver/delivery.ts';
import { FRESH_MS } from './hand-over.ts';
import type { RunLedger } from './ledger/run-ledger.ts';
import type { PlannedRun, PlannedRuns } from './planned-runs.ts';

/** The planner's last report for each webhook. */
const told = new Map<WebhookId, PlannedRun>();
/** Called with its next report of deliveries to a webhook, as soon as it has committed them. */
const asking = new Map<WebhookId, (run: PlannedRun) => void>();
const test = base
  .extend('onPlanned', { scope: 'file' }, () => (runs: PlannedRuns) => {
    for (const [webhookId, run] of runs) {
      told.set(webhookId, run);
      if (run.deliveries.length > 0) asking.get(webhookId)?.(run);
    }
  })
  /** Publishes a change, and returns its planned delivery. */
  .extend('toldOf', { scope: 'file' }, ({ webhooks }) => async (webhookId: WebhookId) => {
    const { promise, resolve } = Promise.withResolvers<PlannedRun>();
    asking.set(webhookId, resolve);
    await webhooks.publish(1);
    return new Map([[webhookId, await promise]]);
  })
  /** Registers a webhook that the planner knows: of a page that also changes one, it reports no deliveries. */
  .extend('registerAt', { scope: 'file' }, ({ planner: _planning, webhooks }) => async (path: string) => {
    const webhookId = await webhooks.register({ url: webhooks.at(path) });
    await until(
      () => told.get(webhookId)?.version,
      (version) => version === 1,
    );
    return webhookId;
  })
  /** Registers a webhook with that many planned deliveries. */
  .extend(
    'planned',
    { scope: 'file' },
    ({ planner: _planning, webhooks }) =>
      async (path: string, count: number) => {
        const webhookId = await webhooks.register({ url: webhooks.at(path) });
        await webhooks.publish(count);
        await webhooks.untilDeliveries(webhookId, 'due', count);
        return webhookId;
      },
  )
  .extend(
    'letPauseEnd',
    { scope: 'file' },
    ({ webhooks }) =>
      (webhookId: WebhookId) =>
        webhooks.rows(`update webhook_ledger.endpoint set not_before = '-infinity' where webhook_id = $1`, [
          webhookId,
        ]),
  );
test.afterEach(({ webhooks }) =>
  webhooks.sink.behave((_received, response) => void response.writeHead(204).end()),
);

test('a process that dies between sending and recording, five times in a row, still leaves the delivery to be finished', async ({
  openProcess,
  planned,
  webhooks,
}) => {
  const webhookId = await planned('/dying', 1);
  for (let times = 0; times < 5; times += 1) {
    const die = async (): Promise<never> => Promise.reject(new Died());
    // A dead process releases nothing either.
    await using dying = openProcess({ ledger: (ledger) => ({ ...ledger, record: die, release: die }) });
    await expect(dying.run(webhookId)).rejects.toThrow(Died);
    expect(webhooks.receivedAt('/dying')).toHaveLength(times + 1);
    await using early = openProcess();
    await early.run(webhookId);
    expect(webhooks.receivedAt('/dying')).toHaveLength(times + 1);
    await webhooks.expireRun(webhookId);
  }
  await using survivor = openProcess();
  await survivor.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  const received = webhooks.receivedAt('/dying');
  expect(received).toHaveLength(6);
  expect(new Set(received.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
});

test('two processes never send to one webhook concurrently', async ({ openProcess, planned, webhooks }) => {
  const webhookId = await planned('/shared', 30);
  let underWay = 0;
  let most = 0;
  webhooks.sink.behave(async (_received, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 5));
    underWay -= 1;
    response.writeHead(204).end();
  });
  await using one = openProcess();
  await using other = openProcess();
  await until(
    async () => {
      await Promise.all([one.run(webhookId), other.run(webhookId), one.run(webhookId)]);
      return webhooks.receivedAt('/shared').length;
    },
    (received) => received === 30,
  );
  expect(most).toBeLessThanOrEqual(10);
  expect(new Set(webhooks.receivedAt('/shared').map(({ id }) => id)).size).toBe(30);
  await webhooks.untilDeliveries(webhookId, 'delivered', 30);
});

test('a process that was paused during a takeover records nothing, and starts nothing more', async ({
  openProcess,
  planned,
  webhooks,
}) => {
  const webhookId = await planned('/paused', 20);
  const { promise: paused, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using slow = openProcess({
    ledger: (ledger) => ({
      ...ledger,
      async record(recorded) {
        reach();
        await paused;
        return ledger.record({ ...recorded, result: { ...recorded.result, outcome: { state: 'dead' } } });
      },
    }),
  });
  const running = slow.run(webhookId);
  await reached;
  await webhooks.expireRun(webhookId);
  await using successor = openProcess();
  await successor.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 20);
  goOn();
  await running;
  expect(
    await webhooks.rows(`select from webhook_ledger.delivery where webhook_id = $1 and state = 'dead'`, [
      webhookId,
    ]),
  ).toEqual([]);
  // The ten deliveries in progress came twice, because their results were unknown.
  expect(webhooks.receivedAt('/paused')).toHaveLength(30);
  const attempts = await webhooks.rows<{ event_id: EventId }>(
    'select event_id from webhook_ledger.attempt where webhook_id = $1',
    [webhookId],
  );
  expect(attempts).toHaveLength(20);
});

test('the rate is obeyed', async ({ openProcess, webhooks }) => {
  const webhookId = await webhooks.register({
    url: webhooks.at('/rate'),
    limits: { ratePerSecond: 20, concurrency: 10 },
  });
  await webhooks.publish(12);
  await webhooks.untilDeliveries(webhookId, 'due', 12);
  await using process = openProcess();
  // On a busy machine the first may arrive late, so the start of the run counts.
  const startedMs = Date.now();
  await process.run(webhookId);
  const times = webhooks.receivedAt('/rate').map(({ atMs }) => atMs);
  expect(times).toHaveLength(12);
  // A burst of two, and ten more in half a second, with a tolerance for clocks and timers.
  expect((times.at(-1) ?? 0) - startedMs).toBeGreaterThan(450);
});

test('a receiver that only fails gets nothing for a while, and then one attempt', async ({
  letPauseEnd,
  openProcess,
  planned,
  webhooks,
}) => {
  const webhookId = await planned('/broken', 40);
  webhooks.sink.behave((_received, response) => void response.writeHead(500).end());
  await using process = openProcess();
  await process.run(webhookId);
  const sent = webhooks.receivedAt('/broken').length;
  expect(sent).toBeGreaterThanOrEqual(10);
  expect(sent).toBeLessThanOrEqual(20);
  await process.run(webhookId);
  expect(webhooks.receivedAt('/broken')).toHaveLength(sent);
  await letPauseEnd(webhookId);
  await using other = openProcess();
  await other.run(webhookId);
  expect(webhooks.receivedAt('/broken')).toHaveLength(sent + 1);
  webhooks.sink.behave((_received, response) => void response.writeHead(204).end());
  await until(
    async () => {
      await letPauseEnd(webhookId);
      await using again = openProcess();
      await again.run(webhookId);
      return (
        await webhooks.rows(
          `select from webhook_ledger.delivery where webhook_id = $1 and state = 'delivered'`,
          [webhookId],
        )
      ).length;
    },
    (delivered) => delivered === 40,
  );
});

test('our own failure with a delivery delays no other', async ({ openProcess, planned, webhooks }) => {
  const webhookId = await planned('/ownFailure', 15);
  const [first] = await webhooks.rows<{ id: EventId }>(
    'select event_id as id from webhook_ledger.delivery where webhook_id = $1 order by position limit 1',
    [webhookId],
  );
  const refuse = (sender: Sender): Sender => ({
    send: async (outgoing, signal) => {
      if (outgoing.delivery.eventId === first?.id) throw new RangeError('a mistake of ours');
      return sender.send(outgoing, signal);
    },
  });
  await using process = openProcess({ sender: refuse });
  await process.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 14);
  const left = await webhooks.rows(
    `select attempts from webhook_ledger.delivery where webhook_id = $1 and state = 'due' and next_at > now()`,
    [webhookId],
  );
  expect(left).toEqual([{ attempts: 0 }]);
});

test('the health of a webhook shows a failing receiver, and when due deliveries are retried', async ({
  dependencies,
  letPauseEnd,
  openProcess,
  planned,
  webhooks,
}) => {
  const webhookId = await planned('/down', 12);
  webhooks.sink.behave((_received, response) => void response.writeHead(503).end());
  await using failing = openProcess();
  const health = async () => (await readHealthOfMany(dependencies.pool, [webhookId])).get(webhookId);
  const paused = await until(
    async () => {
      await failing.run(webhookId);
      return health();
    },
    (seen) => seen?.pausedUntil != null,
  );
  expect(paused).toEqual({
    lastSuccessAt: null,
    lastFailure: { at: expect.any(String), status: 503, reason: 'The receiver answered with status 503.' },
    failingSince: expect.any(String),
    failuresInRow: expect.any(Number),
    attemptsLastDay: paused?.failuresInRow,
    failuresLastDay: paused?.failuresInRow,
    successRate: 0,
    pausedUntil: expect.any(String),
    nextAttemptAt: paused?.pausedUntil,
    backlog: { due: 12, oldestAt: expect.any(String), dead: 0 },
  });
  const counted = await countWebhooks(dependencies.pool);
  expect(counted.failing).toBeGreaterThan(0);
  expect(counted.failingSince?.toISOString()).toBe(paused?.failingSince);
  const filter = { state: undefined, type: undefined, since: undefined, until: undefined };
  const shown = await listDeliveries(
    dependencies.pool,
    { webhookId, filter },
    { after: undefined, before: undefined, isBackward: false, rowsMax: 20 },
  );
  expect(shown.filter(({ next_at }) => next_at.toISOString() < (paused?.pausedUntil ?? ''))).toEqual([]);
  webhooks.sink.behave((_received, response) => void response.writeHead(204).end());
  await letPauseEnd(webhookId);
  // Each process remembers on its own how long it pauses a receiver.
  await using recovering = openProcess();
  await until(
    async () => {
      await recovering.run(webhookId);
      return health();
    },
    (seen) => seen?.backlog.due === 0,
  );
  expect(await health()).toMatchObject({
    ...{
      lastSuccessAt: expect.any(String),
      lastFailure: { status: 503 },
      failingSince: null,
      failuresInRow: 0,
      pausedUntil: null,
    },
    backlog: { due: 0, oldestAt: null, dead: 0 },
  });
  expect(await countWebhooks(dependencies.pool)).toMatchObject({ failing: counted.failing - 1 });
});

test('planned deliveries are sent without a look-up, and the run continues with the next ones', async ({
  openProcess,
  registerAt,
  toldOf,
  webhooks,
}) => {
  const webhookId = await registerAt('/told');
  let looks = 0;
  let looksBefore: number | undefined;
  const looking = (ledger: RunLedger): RunLedger => ({
    ...ledger,
    take(wanted) {
      looks += 1;
      return ledger.take(wanted);
    },
  });
  const sending = (sender: Sender): Sender => ({
    send(...given) {
      looksBefore ??= looks;
      return sender.send(...given);
    },
  });
  let planned = 0;
  const send = async (process: RunProcess): Promise<void> => {
    process.handOver(await toldOf(webhookId));
    planned += 1;
    await webhooks.untilDeliveries(webhookId, 'delivered', planned);
  };
  // A claim that took long looks first, because others may have sent meanwhile.
  await until(
    async () => {
      [looks, looksBefore] = [0, undefined];
      await using process = openProcess({ ledger: looking, sender: sending });
      await send(process);
      return looksBefore;
    },
    (count) => count === 0,
  );
  await using process = openProcess();
  for (let times = 0; times < 3; times += 1) await send(process);
  expect(new Set(webhooks.receivedAt('/told').map(({ id }) => id)).size).toBe(planned);
  expect(webhooks.receivedAt('/told')).toHaveLength(planned);
});

test('a planned delivery is sent once, if it is reported after a run has found it by itself', async ({
  openProcess,
  registerAt,
  toldOf,
  webhooks,
}) => {
  const webhookId = await registerAt('/found');
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  let received = 0;
  webhooks.sink.behave(async (_received, response) => {
    received += 1;
    if (received === 1) await isReleased;
    response.writeHead(204).end();
  });
  await using process = openProcess();
  process.handOver(await toldOf(webhookId));
  await until(
    () => received,
    (count) => count === 1,
  );
  // The run looks for more while the first one is under way.
  const report = await toldOf(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  const [run] = [...report.values()];
  if (run === undefined) throw new Error('nothing was planned');
  process.handOver(new Map([[webhookId, { ...run, writtenAtMs: performance.now() }]]));
  release();
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  await process[Symbol.asyncDispose]();
  expect(webhooks.receivedAt('/found')).toHaveLength(2);
});

test('a planned delivery is sent once, if it is reported after another process has sent it', async ({
  openProcess,
  registerAt,
  toldOf,
  webhooks,
}) => {
  const webhookId = await registerAt('/elsewhere');
  const report = await toldOf(webhookId);
  await using other = openProcess();
  await other.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  await until(
    () => performance.now() - (report.get(webhookId)?.writtenAtMs ?? 0),
    (agoMs) => agoMs > FRESH_MS,
  );
  await using process = openProcess();
  process.handOver(report);
  process.handOver(await toldOf(webhookId));
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  await process[Symbol.asyncDispose]();
  expect(webhooks.receivedAt('/elsewhere')).toHaveLength(2);
});

test('deliveries for a changed webhook follow the change', async ({
  openProcess,
  registerAt,
  toldOf,
  webhooks,
}) => {
  const webhookId = await registerAt('/old');
  await using process = openProcess();
  process.handOver(await toldOf(webhookId));
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  await webhooks.send({ type: 'EditWebhook', webhookId, url: webhooks.at('/new') });
  await until(
    () => told.get(webhookId)?.version,
    (version) => version === 2,
  );
  process.handOver(await toldOf(webhookId));
  await until(
    async () => {
      await process.run(webhookId);
      return webhooks.receivedAt('/new').length;
    },
    (received) => received === 1,
  );
  expect(webhooks.receivedAt('/old')).toHaveLength(1);
});

test('in an ordered webhook, planned deliveries wait for earlier ones', async ({
  openProcess,
  toldOf,
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: webhooks.at('/told-in-order'), ordered: true });
  await webhooks.publish(3);
  await webhooks.untilDeliveries(webhookId, 'due', 3);
  await using process = openProcess();
  told.delete(webhookId);
  process.handOver(await toldOf(webhookId));
  await webhooks.untilDeliveries(webhookId, 'delivered', 4);
  const inOrder = await webhooks.rows<{ id: EventId }>(
    'select event_id as id from webhook_ledger.delivery where webhook_id = $1 order by position',
    [webhookId],
  );
  expect(webhooks.receivedAt('/told-in-order').map(({ id }) => id)).toEqual(inOrder.map(({ id }) => id));
});
