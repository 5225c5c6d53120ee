import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import { createDispatchWorld, type DispatchWorld } from '../engines/dispatch-world.ts';
import { redisMissing, startRedis, type TestRedis } from '../engines/redis.ts';

describe.skipIf(redisMissing !== undefined)('webhooks over a Redis that is lost', () => {
  const resources = new AsyncDisposableStack();
  let world: DispatchWorld;
  let redis: TestRedis;
  beforeAll(async () => {
    redis = resources.use(await startRedis());
    world = resources.use(await createDispatchWorld());
    resources.use(await world.start({ JOB_QUEUE_URL: redis.url }));
    resources.use(await world.start({ JOB_QUEUE_URL: redis.url }));
  });
  afterAll(() => resources.disposeAsync());

  const arrivedAt = (path: string) =>
    new Set(world.sink.received.filter((each) => each.path === path).map(({ id }) => id));

  test('everything is delivered although Redis repeatedly loses all its data', async () => {
    const client = new Redis(redis.url);
    const webhookId = await world.register({ url: `${world.sink.url}/flushed` });
    for (let times = 0; times < 20; times += 1) {
      await world.publish(3);
      await client.flushall();
    }
    await world.untilDeliveries(webhookId, 'delivered', 60);
    expect(arrivedAt('/flushed').size).toBe(60);
    client.disconnect();
  });

  test('deliveries planned or failed during an outage of Redis are delivered afterwards', async () => {
    const webhookId = await world.register({ url: `${world.sink.url}/away` });
    await redis.kill();
    await world.publish(5);
    await world.untilDeliveries(webhookId, 'delivered', 5);
    world.sink.behave((_received, response) => void response.writeHead(500).end());
    await world.publish(1);
    await until(
      () => arrivedAt('/away').size,
      (arrived) => arrived === 6,
    );
    world.sink.behave((_received, response) => void response.writeHead(204).end());
    await redis.start();
    await world.untilDeliveries(webhookId, 'delivered', 6);
  });
});
