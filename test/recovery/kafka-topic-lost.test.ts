import { afterAll, beforeAll, describe, test } from 'vitest';
import { createKafka } from '#adapters/kafka/client.ts';
import { parseKafkaUrl } from '#adapters/kafka/kafka-url.ts';
import { scaled } from '../../testing/load.ts';
import { startKafka, type TestKafka } from '../engines/kafka.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import {
  closeLogInStep,
  createPublishedTopic,
  demandReceived,
  type PublishedTopic,
  subscribe,
  untilPublished,
  untilReceived,
} from '../engines/published-topic.ts';
import { captureLog } from '../serve.ts';

describe.skipIf(kafkaMissing !== undefined)('a topic that is deleted', () => {
  let kafka: TestKafka;
  let topic: PublishedTopic;
  beforeAll(async () => {
    kafka = await startKafka();
    topic = await createPublishedTopic(kafka.url('changes'));
  }, scaled(180_000));
  afterAll(async () => {
    await topic?.[Symbol.asyncDispose]();
    await kafka?.[Symbol.asyncDispose]();
  });

  const deleteTopic = async (): Promise<void> => {
    const place = parseKafkaUrl(topic.url);
    if (!place) throw new Error(`${topic.url} is no Kafka`);
    const admin = (await createKafka(place, captureLog().log)).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [place.topic] });
    await admin.disconnect();
  };

  test(
    'loses and repeats nothing for its users, and is used again once it is recreated',
    async () => {
      await using _publisher = await topic.startPublisher();
      await using stream = await topic.openStream();
      await using subscriber = subscribe(stream);
      await closeLogInStep(topic, stream, subscriber);
      stream.openLog();
      await deleteTopic();
      await topic.write(5);
      await untilReceived(subscriber, await topic.changes());
      await untilPublished(topic);
      await closeLogInStep(topic, stream, subscriber);
      await topic.write(5);
      await demandReceived(subscriber, await topic.changes());
    },
    scaled(240_000),
  );

  test(
    'and is then followed from an old cursor gives everything from there, once',
    async () => {
      await using _publisher = await topic.startPublisher();
      const all = await topic.changes();
      const [tenth] = all.slice(9);
      await deleteTopic();
      await using stream = await topic.openStream();
      await using subscriber = subscribe(stream, tenth?.position);
      await topic.write(3);
      const changes = await topic.changes(tenth?.position);
      await demandReceived(subscriber, changes);
    },
    scaled(240_000),
  );
});
