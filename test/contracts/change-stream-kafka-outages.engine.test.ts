// Takes minutes, so it starts first.
import { describe, expect } from 'vitest';
import { openChangeStream } from '#process/engines/open-change-stream.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { Notifier } from '#shared/notifier.ts';
import { until } from '../../testing/until.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import { untilProjected } from '../engines/projection.ts';
import {
  closeLogInStep,
  demandReceived,
  subscribe,
  test,
  untilPublished,
  untilReceived,
} from '../engines/published-topic.ts';
import { startRole } from '../engines/role-process.ts';
import { captureLog } from '../serve.ts';

describe.skipIf(kafkaMissing !== undefined)('with a real Kafka that fails', () => {
  test('a broker killed during a run loses and repeats nothing after its return', async ({
    kafka,
    topic,
  }) => {
    await using _publisher = await topic.startPublisher();
    await using stream = await topic.openStream();
    await using subscriber = subscribe(stream);
    await closeLogInStep(topic, stream, subscriber);
    const writing = topic.write(20);
    await kafka.kill();
    stream.openLog();
    await writing;
    await topic.write(5);
    const during = await topic.changes();
    // Subscribers continue while Kafka is unavailable.
    await demandReceived(subscriber, during);
    await kafka.start();
    await topic.write(5);
    await untilPublished(topic);
    await closeLogInStep(topic, stream, subscriber);
    await topic.write(5);
    await demandReceived(subscriber, await topic.changes());
  });

  test('a silent broker delays nobody, and is used again later', async ({ kafka, topic }) => {
    await using _publisher = await topic.startPublisher();
    await using stream = await topic.openStream();
    const start = (await topic.changes()).at(-1)?.position;
    await using subscriber = subscribe(stream, start);
    await closeLogInStep(topic, stream, subscriber);
    kafka.pause();
    stream.openLog();
    await topic.write(5);
    await untilReceived(subscriber, await topic.changes(start));
    kafka.resume();
    await untilPublished(topic);
    await closeLogInStep(topic, stream, subscriber);
    await topic.write(5);
    await demandReceived(subscriber, await topic.changes(start));
  });

  test('the read model does not wait for Kafka; the publisher starts without it, reports its lag, and catches up', async ({
    kafka,
    topic,
  }) => {
    await kafka.kill();
    const metrics = createMetrics();
    await using _publisher = await topic.startPublisher(metrics);
    await topic.write(300);
    await untilProjected(topic.side);
    const behind = async () =>
      Number(/annals_follower_behind\{follower="publisher"\} (\d+)/.exec(await metrics.metrics())?.[1]);
    expect(await behind()).toBeGreaterThanOrEqual(600);
    await kafka.start();
    await until(behind, (positions) => positions === 0, 60_000);
    await using stream = await topic.openStream();
    await using subscriber = subscribe(stream, (await topic.changes()).at(-1)?.position);
    await closeLogInStep(topic, stream, subscriber);
  });

  test('a stalled publisher delays nobody while Kafka works', async ({ topic }) => {
    const publisher = await topic.startPublisher();
    await using stream = await openChangeStream({
      ...topic.side,
      url: topic.url,
      notifier: new Notifier(REAL_TIME),
      log: captureLog().log,
    });
    const start = (await topic.changes()).at(-1)?.position;
    await using subscriber = subscribe(stream, start);
    for (let round = 0; round < 3; round += 1) {
      await topic.write(2);
      await untilReceived(subscriber, await topic.changes(start));
    }
    await publisher[Symbol.asyncDispose]();
    await topic.write(3);
    await demandReceived(subscriber, await topic.changes(start));
  });

  test('another publisher takes over from a killed one, without gaps', async ({ topic }) => {
    await using owner = startRole('projector/main.ts', topic.settings);
    await owner.logged('Annals is ready.');
    await using standby = startRole('projector/main.ts', topic.settings);
    await standby.logged('Annals is ready.');
    await using stream = await topic.openStream();
    const start = (await topic.changes()).at(-1)?.position;
    await using subscriber = subscribe(stream, start);
    await closeLogInStep(topic, stream, subscriber);
    const writing = topic.write(30);
    await owner.kill('SIGKILL');
    await writing;
    await demandReceived(subscriber, await topic.changes(start));
    expect(standby.printed()).not.toContain('TimeoutNegativeWarning');
  });
});
