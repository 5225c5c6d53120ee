// Takes minutes, so it starts first.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChangeStream } from '#shared/change-stream/open.ts';
import { Notifier } from '#shared/notifier.ts';
import { createMetrics } from '#shared/process/metrics.ts';
import { until } from '../../testing/until.ts';
import { startKafka, type TestKafka } from '../engines/kafka.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import {
  closeLogInStep,
  createKafkaWorld,
  demandReceived,
  type KafkaWorld,
  subscribe,
  untilPublished,
  untilReceived,
} from '../engines/kafka-world.ts';
import { untilProjected } from '../engines/projection.ts';
import { startRole } from '../engines/role-process.ts';
import { captureLog } from '../serve.ts';

describe.skipIf(kafkaMissing !== undefined)('with a real Kafka that fails', () => {
  let kafka: TestKafka;
  let world: KafkaWorld;
  beforeAll(async () => {
    kafka = await startKafka();
    world = await createKafkaWorld(kafka.url('changes'));
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await kafka?.[Symbol.asyncDispose]();
  });

  test('a broker killed during a run loses and repeats nothing after its return', async () => {
    await using _publisher = await world.startPublisher();
    await using stream = await world.openStream();
    await using subscriber = subscribe(stream);
    await closeLogInStep(world, stream, subscriber);
    const writing = world.write(20);
    await kafka.kill();
    stream.openLog();
    await writing;
    await world.write(5);
    const during = await world.changes();
    // Subscribers continue while Kafka is unavailable.
    await demandReceived(subscriber, during);
    await kafka.start();
    await world.write(5);
    await untilPublished(world);
    await closeLogInStep(world, stream, subscriber);
    await world.write(5);
    await demandReceived(subscriber, await world.changes());
  });

  test('a silent broker delays nobody, and is used again later', async () => {
    await using _publisher = await world.startPublisher();
    await using stream = await world.openStream();
    const start = (await world.changes()).at(-1)?.position;
    await using subscriber = subscribe(stream, start);
    await closeLogInStep(world, stream, subscriber);
    kafka.pause();
    stream.openLog();
    await world.write(5);
    await untilReceived(subscriber, await world.changes(start));
    kafka.resume();
    await untilPublished(world);
    await closeLogInStep(world, stream, subscriber);
    await world.write(5);
    await demandReceived(subscriber, await world.changes(start));
  });

  test('the read model does not wait for Kafka; the publisher starts without it, reports its lag, and catches up', async () => {
    await kafka.kill();
    const metrics = createMetrics();
    await using _publisher = await world.startPublisher(metrics);
    await world.write(300);
    await untilProjected(world.side);
    const behind = async () =>
      Number(/annals_follower_behind\{follower="publisher"\} (\d+)/.exec(await metrics.metrics())?.[1]);
    expect(await behind()).toBeGreaterThanOrEqual(600);
    await kafka.start();
    await until(behind, (positions) => positions === 0, 60_000);
    await using stream = await world.openStream();
    await using subscriber = subscribe(stream, (await world.changes()).at(-1)?.position);
    await closeLogInStep(world, stream, subscriber);
  });

  test('a stalled publisher delays nobody while Kafka works', async () => {
    const publisher = await world.startPublisher();
    await using stream = await openChangeStream({
      ...world.side,
      url: world.url,
      notifier: new Notifier(),
      log: captureLog().log,
    });
    const start = (await world.changes()).at(-1)?.position;
    await using subscriber = subscribe(stream, start);
    for (let round = 0; round < 3; round += 1) {
      await world.write(2);
      await untilReceived(subscriber, await world.changes(start));
    }
    await publisher[Symbol.asyncDispose]();
    await world.write(3);
    await demandReceived(subscriber, await world.changes(start));
  });

  test('another publisher takes over from a killed one, without gaps', async () => {
    await using owner = startRole('projector/main.ts', world.settings);
    await owner.logged('Annals is ready.');
    await using standby = startRole('projector/main.ts', world.settings);
    await standby.logged('Annals is ready.');
    await using stream = await world.openStream();
    const start = (await world.changes()).at(-1)?.position;
    await using subscriber = subscribe(stream, start);
    await closeLogInStep(world, stream, subscriber);
    const writing = world.write(30);
    await owner.kill('SIGKILL');
    await writing;
    await demandReceived(subscriber, await world.changes(start));
    expect(standby.printed()).not.toContain('TimeoutNegativeWarning');
  });
});
