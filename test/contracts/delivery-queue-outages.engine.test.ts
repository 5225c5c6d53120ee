import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import { redisMissing, startRedis, type TestRedis } from '../engines/redis.ts';
import { createWebhookSide, type WebhookSide } from '../engines/webhook-side.ts';

describe.skipIf(redisMissing !== undefined)('webhooks over a Redis that is lost', () => {
  const resources = new AsyncDisposableStack();
  let webhooks: WebhookSide;
  let redis: TestRedis;
  beforeAll(async () => {
    redis = resources.use(await startRedis());
    webhooks = resources.use(await createWebhookSide());
    resources.use(await webhooks.start({ JOB_QUEUE_URL: redis.url }));
    resources.use(await webhooks.start({ JOB_QUEUE_URL: redis.url }));
  });
  afterAll(() => resources.disposeAsync());

  const arrivedAt = (path: string) =>
    new Set(webhooks.sink.received.filter((each) => each.path === path).map(({ id }) => id));

  test('everything is delivered although Redis repeatedly loses all its data', async () => {
    const client = new Redis(redis.url);
    const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/flushed` });
    for (let times = 0; times < 20; times += 1) {
      await webhooks.publish(3);
      await client.flushall();
    }
    await webhooks.untilDeliveries(webhookId, 'delivered', 60);
    expect(arrivedAt('/flushed').size).toBe(60);
    client.disconnect();
  });

  test('deliveries planned or failed during an outage of Redis are delivered afterwards', async () => {
    const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/away` });
    await redis.kill();
    await webhooks.publish(5);
    await webhooks.untilDeliveries(webhookId, 'delivered', 5);
    webhooks.sink.behave((_received, response) => void response.writeHead(500).end());
    await webhooks.publish(1);
    await until(
      () => arrivedAt('/away').size,
      (arrived) => arrived === 6,
    );
    webhooks.sink.behave((_received, response) => void response.writeHead(204).end());
    await redis.start();
    await webhooks.untilDeliveries(webhookId, 'delivered', 6);
  });
});
