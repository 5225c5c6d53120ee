// Takes minutes, so it starts first.
import { describe, expect } from 'vitest';
import { openChangeStream, openPublication } from '#process/engines/open-change-stream.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { Notifier } from '#shared/notifier.ts';
import { startConfiguredPublisher } from '../../projector/role.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { startKafka } from '../engines/kafka.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import {
  test as base,
  closeLogInStep,
  createPublishedTopic,
  demandReceived,
  subscribe,
  untilPublished,
  untilReceived,
} from '../engines/published-topic.ts';
import { captureLog } from '../serve.ts';
import { describeChangeStream } from './change-stream.ts';
import { type ChangeEngine, startChangeEngine } from './change-stream-engine.ts';

if (kafkaMissing !== undefined)
  process.stderr.write(`Changes by way of Kafka are not tested: ${kafkaMissing}.\n`);

/** The shared suite, with a broker as the source, which is killed. */
const startEngine = async (): Promise<ChangeEngine> => {
  await using opening = new AsyncDisposableStack();
  const kafka = opening.use(await startKafka());
  const engine = opening.use(await startChangeEngine());
  const { side } = engine;
  const common = {
    ...side,
    url: kafka.url('changes'),
    notifier: new Notifier(REAL_TIME),
    log: captureLog().log,
    publicUrl: 'https://annals.example',
  };
  opening.use(await startConfiguredPublisher({ ...common, metrics: createMetrics() }));
  const resources = opening.move();
  return {
    ...engine,
    open: () => openChangeStream(common),
    async disturb() {
      await kafka.kill();
      await kafka.start();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

describe.skipIf(kafkaMissing !== undefined)('through Kafka', () => {
  describeChangeStream('Kafka', startEngine);
});

const test = base.extend('publisher', { scope: 'file' }, async ({ topic }, { onCleanup }) => {
  const publisher = await topic.startPublisher();
  onCleanup(() => publisher[Symbol.asyncDispose]());
  return publisher;
});

describe.skipIf(kafkaMissing !== undefined)('with a real Kafka', () => {
  test.beforeAll(({ publisher: _running }) => {});

  test('Kafka delivers the content of the log, in its order, without reads from the log', async ({
    topic,
  }) => {
    await using stream = await topic.openStream();
    await using subscriber = subscribe(stream);
    await closeLogInStep(topic, stream, subscriber);
    await topic.write(10);
    await demandReceived(subscriber, await topic.changes());
  });

  test('a returning subscriber is served from Kafka if that still has the missed changes', async ({
    topic,
  }) => {
    await untilPublished(topic);
    await using stream = await topic.openStream();
    const first = subscribe(stream);
    await closeLogInStep(topic, stream, first);
    await first[Symbol.asyncDispose]();
    await topic.write(3);
    await using second = subscribe(stream, first.last());
    const changes = await topic.changes();
    await untilReceived(second, changes);
    expect([...first.received, ...second.received]).toEqual(changes);
  });

  test('a restarted consumer continues from its checkpoint', async ({ topic }) => {
    const received: Change[] = [];
    let last = (await topic.changes()).at(-1)?.position;
    const from = last;
    for (let start = 1; start <= 3; start += 1) {
      await using stream = await topic.openStream();
      await using subscriber = subscribe(stream, last);
      await topic.write(3);
      await until(
        () => subscriber.received.length,
        (length) => length > start,
      );
      await subscriber[Symbol.asyncDispose]();
      received.push(...subscriber.received);
      last = subscriber.last();
    }
    const changes = await topic.changes(from);
    expect(received).toEqual(changes.slice(0, received.length));
  });

  test('repeated and late messages of a publisher without its lease are dropped', async ({ topic }) => {
    await using stream = await topic.openStream();
    await using subscriber = subscribe(stream);
    await closeLogInStep(topic, stream, subscriber);
    const known = await topic.changes();
    const { log } = captureLog();
    await using overtaken = await openPublication({
      url: topic.url,
      eventLog: topic.side.eventLog,
      log,
      publicUrl: 'https://annals.example',
    });
    const late = known.slice(-6).map((change, index) => ({
      change,
      previous: known.at(index - 7)?.position ?? change.position,
      correlation: 'c',
    }));
    await overtaken?.publish(late, AbortSignal.timeout(scaled(30_000)));
    await overtaken?.publish(late.slice(0, 3), AbortSignal.timeout(scaled(30_000)));
    await topic.write(3);
    await demandReceived(subscriber, await topic.changes());
  });

  test('a gap made by retention is filled from the log', async ({ kafka, topic }) => {
    await topic.write(5);
    await untilPublished(topic);
    await kafka.admin(async (admin) => {
      const [partition] = await admin.fetchTopicOffsets('changes');
      const offset = String(BigInt(partition?.high ?? 0) - 3n);
      await admin.deleteTopicRecords({ topic: 'changes', partitions: [{ partition: 0, offset }] });
    });
    await using stream = await topic.openStream();
    await using subscriber = subscribe(stream);
    await closeLogInStep(topic, stream, subscriber);
    await topic.write(2);
    await demandReceived(subscriber, await topic.changes());
  });

  test('messages of another log are skipped', async ({ topic }) => {
    await using other = await createPublishedTopic(topic.url);
    await using _publisher = await other.startPublisher();
    await other.write(2);
    await using stream = await topic.openStream();
    await using subscriber = subscribe(stream);
    await closeLogInStep(topic, stream, subscriber);
    await Promise.all([other.write(3), topic.write(3)]);
    await demandReceived(subscriber, await topic.changes());
  });
});
