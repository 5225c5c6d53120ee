import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type Example, startExample } from '../engines/example.ts';
import { commandOf } from '../engines/following.ts';
import { startKafka, type TestKafka } from '../engines/kafka.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import { createPublishedTopic, type PublishedTopic, untilPublished } from '../engines/published-topic.ts';

const DEADLINE_MS = 110_000;
const TOPIC = 'followed';

/** As in docs/changes.md, except the address, with the file for its position. */
const start = (kafka: TestKafka, file: string): Example => {
  const command = commandOf('KAFKA_BROKERS=').replace(/^\S+=\S+ \S+=\S+ /, '');
  return startExample(`${command} ${file}`, { KAFKA_BROKERS: kafka.broker, KAFKA_TOPIC: TOPIC });
};

const cursorsIn = async ({ side, changes }: PublishedTopic): Promise<readonly string[]> =>
  (await changes()).map(({ position, id }) => formatCursor(side.eventLog.identity, position, id));

const untilPrinted = async (example: Example, last: string | undefined): Promise<void> => {
  await until(
    () => ({ last: example.cursors().at(-1), complaints: example.complaints().slice(-500) }),
    (seen) => seen.last === last,
    DEADLINE_MS,
  );
};

describe.skipIf(kafkaMissing !== undefined)('the consumer of docs/examples', () => {
  let kafka: TestKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  });
  afterAll(() => kafka?.[Symbol.asyncDispose]());

  test('prints every change once and in order, even if the broker and the consumer are killed', {
    timeout: scaled(300_000),
  }, async () => {
    await using topic = await createPublishedTopic(kafka.url(TOPIC));
    await using _publisher = await topic.startPublisher();
    await using folder = await temporaryDataDir();
    const file = join(folder.path, 'position');
    await topic.write(3);
    await untilPublished(topic);
    await using first = start(kafka, file);
    await untilPrinted(first, (await cursorsIn(topic)).at(-1));
    await topic.write(3);
    await kafka.kill();
    await topic.write(3);
    await kafka.start();
    await untilPublished(topic);
    await untilPrinted(first, (await cursorsIn(topic)).at(-1));
    await first.kill();
    await topic.write(3);
    await untilPublished(topic);
    await using second = start(kafka, file);
    await untilPrinted(second, (await cursorsIn(topic)).at(-1));
    expect([...first.cursors(), ...second.cursors()]).toEqual(await cursorsIn(topic));
  });
});
