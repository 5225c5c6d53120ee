import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRateLimits } from '#process/engines/open-rate-limits.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { type Cuttable, openCuttable } from '../engines/cuttable.ts';
import { redisMissing, startRedis, type TestRedis } from '../engines/redis.ts';
import { createWebhookSide, type WebhookSide } from '../engines/webhook-side.ts';
import { captureLog } from '../serve.ts';
import { runBlock } from './page.ts';

if (redisMissing !== undefined)
  process.stderr.write(`The failover of Redis is not tested: ${redisMissing}.\n`);

/** A primary and its replica behind one name, like a managed Redis. Follows docs/runbooks.md. */
describe.skipIf(redisMissing !== undefined)('a Redis whose replica takes over', () => {
  const resources = new AsyncDisposableStack();
  let primary: TestRedis;
  let replica: TestRedis;
  let name: Cuttable;
  let webhooks: WebhookSide;
  let url: string;

  beforeAll(async () => {
    primary = resources.use(await startRedis());
    replica = resources.use(await startRedis());
    await replica.replicate(primary);
    name = resources.use(await openCuttable(() => primary.url));
    url = `redis://127.0.0.1:${name.port}`;
    webhooks = resources.use(await createWebhookSide());
    for (let count = 0; count < 2; count += 1) resources.use(await webhooks.start({ JOB_QUEUE_URL: url }));
  });
  afterAll(() => resources.disposeAsync());

  const promote = async (): Promise<void> => {
    await runBlock('redis-failover', { REPLICA_URL: replica.url });
    [primary, replica] = [replica, primary];
  };

  /** Publishes before, during and after the failover, and waits for every delivery. */
  const expectAllDelivered = async (path: string, failOver: () => Promise<void>): Promise<void> => {
    const webhookId = await webhooks.register({ url: `${webhooks.sink.url}${path}` });
    await webhooks.publish(10);
    const during = webhooks.publish(10);
    await failOver();
    await during;
    await webhooks.publish(10);
    await webhooks.untilDeliveries(webhookId, 'delivered', 30);
    expect(
      new Set(webhooks.sink.received.filter((each) => each.path === path).map(({ id }) => id)).size,
    ).toBe(30);
  };

  test(
    'is followed by webhooks and rate limits although the former primary keeps its connections',
    async () => {
      const { log } = captureLog();
      await using limits = await openRateLimits({ url, installation: 'one', log, clock: REAL_TIME });
      const limit = limits.of({ name: 'failover', unitsPerSecond: 0.001, burst: 1_000_000 });
      const before = await limit.take('a', 500_000);
      await expectAllDelivered('/demoted', async () => {
        await promote();
        await replica.replicate(primary);
      });
      // A shared count continues from the replicated one; a process that counts by itself starts from zero.
      await until(
        () => limit.take('a', 1),
        ({ remaining }) => remaining < before.remaining,
      );
    },
    scaled(60_000),
  );

  test(
    'is followed when the former primary is killed',
    () =>
      expectAllDelivered('/killed', async () => {
        await primary.kill();
        name.cut();
        await promote();
        name.mend();
      }),
    scaled(60_000),
  );
});
