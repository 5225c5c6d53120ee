// Over 200 lines, because all cases share the dispatcher that is set up here.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { EventId, WebhookId } from '#shared/brands.ts';
import { countWebhooks } from '#shared/webhooks/counts.ts';
import { listDeliveries } from '#shared/webhooks/deliveries.ts';
import { readHealthOfMany } from '#shared/webhooks/health.ts';
import { Died } from '../test/engines/command-side.ts';
import { openRunProcess, type RunProcess } from '../test/engines/run-by-hand.ts';
import { createWebhookFixture, type WebhookFixture } from '../test/engines/webhook-fixture.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';
import type { Sender } from './deliver/delivery.ts';
import { migrateLedger } from './ledger/migrate.ts';
import type { RunLedger } from './ledger/run-ledger.ts';
import { startPlanner } from './plan.ts';
import type { PlannedRun, PlannedRuns } from './planned-runs.ts';
import type { DispatcherDependencies } from './service.ts';

/** Starts runs by hand, like workers of several processes, on what one planner has planned. */
const resources = new AsyncDisposableStack();
let webhooks: WebhookFixture;
let given: DispatcherDependencies;
beforeAll(async () => {
  webhooks = resources.use(await createWebhookFixture());
  given = resources.use(await webhooks.dependencies());
  await migrateLedger(given.pool);
  resources.use(await startPlanner({ ...given, planned: (runs) => runs.forEach(note) }));
}, scaled(120_000));
afterAll(() => resources.disposeAsync());
afterEach(() => webhooks.sink.behave((_received, response) => void response.writeHead(204).end()));

/** The planner’s last report for each webhook. */
const told = new Map<WebhookId, PlannedRun>();
const note = (run: PlannedRun, webhookId: WebhookId): void => void told.set(webhookId, run);
/** Publishes a change, and returns its planned delivery. */
const toldOf = async (webhookId: WebhookId): Promise<PlannedRuns> => {
  await webhooks.publish(1);
  const run = await until(
    () => told.get(webhookId),
    (known) => known !== undefined && known.deliveries.length > 0,
  );
  told.delete(webhookId);
  return new Map(run && [[webhookId, run]]);
};

const openProcess = (
  wrap?: (ledger: RunLedger) => RunLedger,
  wrapSender?: (sender: Sender) => Sender,
): RunProcess =>
  openRunProcess(given, { ...(wrap && { ledger: wrap }), ...(wrapSender && { sender: wrapSender }) });

const at = (path: string) => `${webhooks.sink.url}${path}`;
const receivedAt = (path: string) => webhooks.sink.received.filter((each) => each.path === path);
/** Registers a webhook with that many planned deliveries. */
const planned = async (path: string, count: number): Promise<WebhookId> => {
  const webhookId = await webhooks.register({ url: at(path) });
  await webhooks.publish(count);
  await webhooks.untilDeliveries(webhookId, 'due', count);
  return webhookId;
};
/** Simulates that the lease of a run has expired. */
const forgetRun = (webhookId: WebhookId) =>
  webhooks.rows(`update webhook_ledger.endpoint set run_until = '-infinity' where webhook_id = $1`, [
    webhookId,
  ]);
const letPauseEnd = (webhookId: WebhookId) =>
  webhooks.rows(`update webhook_ledger.endpoint set not_before = '-infinity' where webhook_id = $1`, [
    webhookId,
  ]);

test('a process that dies between sending and recording, five times in a row, still leaves the delivery to be finished', async () => {
  const webhookId = await planned('/dying', 1);
  for (let times = 0; times < 5; times += 1) {
    const die = async (): Promise<never> => Promise.reject(new Died());
    // A dead process releases nothing either.
    await using dying = openProcess((ledger) => ({ ...ledger, record: die, release: die }));
    await expect(dying.run(webhookId)).rejects.toThrow(Died);
    expect(receivedAt('/dying')).toHaveLength(times + 1);
    await using early = openProcess();
    await early.run(webhookId);
    expect(receivedAt('/dying')).toHaveLength(times + 1);
    await forgetRun(webhookId);
  }
  await using survivor = openProcess();
  await survivor.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  const received = receivedAt('/dying');
  expect(received).toHaveLength(6);
  expect(new Set(received.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
});

test('two processes never send to one webhook concurrently', async () => {
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
      return receivedAt('/shared').length;
    },
    (received) => received === 30,
  );
  expect(most).toBeLessThanOrEqual(10);
  expect(new Set(receivedAt('/shared').map(({ id }) => id)).size).toBe(30);
  await webhooks.untilDeliveries(webhookId, 'delivered', 30);
});

test('a process that was paused during a takeover records nothing, and starts nothing more', async () => {
  const webhookId = await planned('/paused', 20);
  const { promise: paused, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using slow = openProcess((ledger) => ({
    ...ledger,
    async record(recorded) {
      reach();
      await paused;
      return ledger.record({ ...recorded, result: { ...recorded.result, outcome: { state: 'dead' } } });
    },
  }));
  const running = slow.run(webhookId);
  await reached;
  await forgetRun(webhookId);
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
  expect(receivedAt('/paused')).toHaveLength(30);
  const attempts = await webhooks.rows<{ event_id: EventId }>(
    'select event_id from webhook_ledger.attempt where webhook_id = $1',
    [webhookId],
  );
  expect(attempts).toHaveLength(20);
});

test('the rate is obeyed', async () => {
  const webhookId = await webhooks.register({
    url: at('/rate'),
    limits: { ratePerSecond: 20, concurrency: 10 },
  });
  await webhooks.publish(12);
  await webhooks.untilDeliveries(webhookId, 'due', 12);
  await using process = openProcess();
  // On a busy machine the first may arrive late, so the start of the run counts.
  const startedMs = Date.now();
  await process.run(webhookId);
  const times = receivedAt('/rate').map(({ atMs }) => atMs);
  expect(times).toHaveLength(12);
  // A burst of two, and ten more in half a second, with a tolerance for clocks and timers.
  expect((times.at(-1) ?? 0) - startedMs).toBeGreaterThan(450);
});

test('a receiver that only fails gets nothing for a while, and then one attempt', async () => {
  const webhookId = await planned('/broken', 40);
  webhooks.sink.behave((_received, response) => void response.writeHead(500).end());
  await using process = openProcess();
  await process.run(webhookId);
  const sent = receivedAt('/broken').length;
  expect(sent).toBeGreaterThanOrEqual(10);
  expect(sent).toBeLessThanOrEqual(20);
  await process.run(webhookId);
  expect(receivedAt('/broken')).toHaveLength(sent);
  await letPauseEnd(webhookId);
  await using other = openProcess();
  await other.run(webhookId);
  expect(receivedAt('/broken')).toHaveLength(sent + 1);
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

test('our own failure with a delivery delays no other', async () => {
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
  await using process = openProcess(undefined, refuse);
  await process.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 14);
  const left = await webhooks.rows(
    `select attempts from webhook_ledger.delivery where webhook_id = $1 and state = 'due' and next_at > now()`,
    [webhookId],
  );
  expect(left).toEqual([{ attempts: 0 }]);
});

test('the health of a webhook shows a failing receiver, and when due deliveries are retried', async () => {
  const webhookId = await planned('/down', 12);
  webhooks.sink.behave((_received, response) => void response.writeHead(503).end());
  await using failing = openProcess();
  const health = async () => (await readHealthOfMany(given.pool, [webhookId])).get(webhookId);
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
  const counted = await countWebhooks(given.pool);
  expect(counted.failing).toBeGreaterThan(0);
  expect(counted.failingSince?.toISOString()).toBe(paused?.failingSince);
  const filter = { state: undefined, type: undefined, since: undefined, until: undefined };
  const shown = await listDeliveries(
    given.pool,
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
  expect(await countWebhooks(given.pool)).toMatchObject({ failing: counted.failing - 1 });
});

test('planned deliveries are sent without a look-up, and the run continues with the next ones', async () => {
  const webhookId = await webhooks.register({ url: at('/told') });
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
  await using process = openProcess(looking, sending);
  process.handOver(await toldOf(webhookId));
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  expect(looksBefore).toBe(0);
  for (const planned of [2, 3]) {
    process.handOver(await toldOf(webhookId));
    await webhooks.untilDeliveries(webhookId, 'delivered', planned);
  }
  expect(new Set(receivedAt('/told').map(({ id }) => id)).size).toBe(3);
  expect(receivedAt('/told')).toHaveLength(3);
});

test('deliveries for a changed webhook follow the change', async () => {
  const webhookId = await webhooks.register({ url: at('/old') });
  await using process = openProcess();
  process.handOver(await toldOf(webhookId));
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  await webhooks.send({ type: 'EditWebhook', webhookId, url: at('/new') });
  await until(
    () => told.get(webhookId)?.version,
    (version) => version === 2,
  );
  process.handOver(await toldOf(webhookId));
  await until(
    async () => {
      await process.run(webhookId);
      return receivedAt('/new').length;
    },
    (received) => received === 1,
  );
  expect(receivedAt('/old')).toHaveLength(1);
});

test('in an ordered webhook, planned deliveries wait for earlier ones', async () => {
  const webhookId = await webhooks.register({ url: at('/told-in-order'), ordered: true });
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
  expect(receivedAt('/told-in-order').map(({ id }) => id)).toEqual(inOrder.map(({ id }) => id));
});
