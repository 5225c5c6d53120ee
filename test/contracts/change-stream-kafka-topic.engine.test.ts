import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CloudEvent, Kafka as EventsInKafka } from 'cloudevents';
import { ConfigResourceTypes, Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { START } from '#shared/event-log/event-log.ts';
import { until } from '../../testing/until.ts';
import { AUTHORITY } from '../engines/certificates.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { startKafka, type TestKafka } from '../engines/kafka.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import {
  closeLogInStep,
  createPublishedTopic,
  subscribe,
  untilPublished,
} from '../engines/published-topic.ts';

describe.skipIf(kafkaMissing !== undefined)('the topic of changes', () => {
  let kafka: TestKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  });
  afterAll(() => kafka?.[Symbol.asyncDispose]());

  /** The messages of a topic, as a third-party consumer reads them. */
  const messagesIn = async (
    topic: string,
    count: number,
  ): Promise<readonly (KafkaMessage & { partition: number })[]> => {
    const consumer = new Kafka({ brokers: [kafka.broker], logLevel: logLevel.NOTHING }).consumer({
      groupId: randomUUID(),
    });
    const messages: (KafkaMessage & { partition: number })[] = [];
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        eachMessage: async ({ message, partition }) => void messages.push({ ...message, partition }),
      });
      await until(
        () => messages.length,
        (length) => length >= count,
        60_000,
      );
    } finally {
      await consumer.disconnect();
    }
    return messages;
  };

  test('third parties read changes from it by key, value and headers, and from the copy by aggregate', async () => {
    await using published = await createPublishedTopic(
      kafka.url('open', { retention: '12h', copy: 'open.by-item:4' }),
    );
    await using _publisher = await published.startPublisher();
    await published.write(20);
    await untilPublished(published);
    const changes = await published.changes();
    const messages = await messagesIn('open', changes.length);
    expect(messages.map(({ value }) => JSON.parse(String(value)))).toEqual(changes);
    expect(messages.map(({ key }) => String(key))).toEqual(changes.map(({ stream }) => stream));
    const { identity } = published.side.eventLog;
    const [first, second] = messages;
    expect(headersOf(first)).toMatchObject({
      cursor: formatCursor(identity, changes[0]?.position ?? START, changes[0]?.id),
      type: changes[0]?.type,
    });
    expect(headersOf(second)).toEqual({
      cursor: formatCursor(identity, changes[1]?.position ?? START, changes[1]?.id),
      previous: formatCursor(identity, changes[0]?.position ?? START),
      type: changes[1]?.type,
      'schema-version': '1',
      'correlation-id': expect.stringMatching(/./),
    });
    const copy = await messagesIn('open.by-item', changes.length);
    expect(new Set(copy.map(({ partition }) => partition)).size).toBeGreaterThan(1);
    for (const partition of [0, 1, 2, 3]) {
      const positions = copy
        .filter((message) => message.partition === partition)
        .map(({ value }) => JSON.parse(String(value)).position);
      expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    }
    for (const stream of new Set(changes.map((change) => change.stream))) {
      expect(
        new Set(copy.filter(({ key }) => String(key) === stream).map(({ partition }) => partition)).size,
      ).toBe(1);
    }
    const { resources } = await kafka.admin((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: 'open', configNames: ['retention.ms'] }],
      }),
    );
    expect(resources[0]?.configEntries[0]?.configValue).toBe(String(12 * 3_600_000));
  });

  test.each(['cloudevents', 'cloudevents_binary'])(
    'the copy has CloudEvents with the format %s',
    async (format) => {
      const topic = `events.${format}`;
      await using published = await createPublishedTopic(
        kafka.url(`${topic}.own`, { copy: `${topic}:1`, format }),
      );
      await using _publisher = await published.startPublisher();
      await published.write(3);
      await untilPublished(published);
      const changes = await published.changes();
      const messages = await messagesIn(topic, changes.length);
      const events = messages.map(({ key, value, headers = {} }) => {
        const texts = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)]));
        const message = { key: String(key), value: String(value), headers: texts, body: String(value) };
        return EventsInKafka.toEvent(message as never) as CloudEvent;
      });
      expect(events.every((event) => event.validate())).toBe(true);
      expect(events.map(({ id, subject, data }) => ({ id, subject, data }))).toEqual(
        changes.map(({ id, stream: subject, data }) => ({ id, subject, data })),
      );
      const own = await messagesIn(`${topic}.own`, changes.length);
      expect(own.map(({ value }) => JSON.parse(String(value)))).toEqual(changes);
    },
  );

  test('it contains no personal data', async () => {
    await using published = await createPublishedTopic(kafka.url('private'));
    await using _publisher = await published.startPublisher();
    await published.write(1);
    await untilPublished(published);
    const text = (await messagesIn('private', 3)).map(({ value }) => String(value)).join();
    expect(text).toContain('comment.added');
    expect(text).not.toMatch(/Ada|Well said/);
  });

  test('a topic of several partitions is refused at the start', async () => {
    await kafka.admin((admin) =>
      admin.createTopics({ topics: [{ topic: 'wide', numPartitions: 3 }], waitForLeaders: true }),
    );
    await using published = await createPublishedTopic(kafka.url('wide'));
    await expect(published.startPublisher()).rejects.toThrow(
      new StartRefused(
        'The topic wide of CHANGE_STREAM_URL has 3 partitions but must have one: set another topic, or delete this one.',
      ),
    );
  });

  test('it supports TLS and passwords; a wrong password or a foreign certificate is refused in one sentence', async () => {
    await using folder = await temporaryDataDir();
    const ca = join(folder.path, 'ca.pem');
    await writeFile(ca, AUTHORITY);
    await using published = await createPublishedTopic(kafka.secureUrl('secure', { ca }));
    await using _publisher = await published.startPublisher();
    await using stream = await published.openStream();
    await using subscriber = subscribe(stream);
    await closeLogInStep(published, stream, subscriber);
    await using wrong = await createPublishedTopic(kafka.secureUrl('secure', { ca, password: 'wrong' }));
    await expect(wrong.startPublisher()).rejects.toThrow(
      /^Kafka refuses the user of CHANGE_STREAM_URL: [^:]*\.$/,
    );
    await using strange = await createPublishedTopic(kafka.secureUrl('secure', {}));
    await expect(strange.startPublisher()).rejects.toThrow(
      /^The certificate of Kafka is not trusted \(.*\): set its authority with ca= in CHANGE_STREAM_URL\.$/,
    );
  });
});

const headersOf = (message: KafkaMessage | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(message?.headers ?? {}).map(([name, value]) => [name, String(value)]));
