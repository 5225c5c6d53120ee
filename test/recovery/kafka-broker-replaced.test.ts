import { afterAll, beforeAll, describe, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { type KafkaCluster, startKafkaCluster } from '../engines/kafka-cluster.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import {
  closeLogInStep,
  createPublishedTopic,
  demandReceived,
  type PublishedTopic,
  subscribe,
  untilPublished,
} from '../engines/published-topic.ts';

if (kafkaMissing !== undefined)
  process.stderr.write(`The replacement of a Kafka broker is not tested: ${kafkaMissing}.\n`);

/** One of the addresses in CHANGE_STREAM_URL may change; clients learn the new one from the other brokers. */
const REPLACED = [
  [1, 'other address'],
  [2, 'same address'],
  [3, 'same address'],
] as const;

describe.skipIf(kafkaMissing !== undefined)('a Kafka cluster of three', () => {
  let kafka: KafkaCluster;
  let topic: PublishedTopic;
  beforeAll(async () => {
    kafka = await startKafkaCluster(3);
    topic = await createPublishedTopic(kafka.url('changes'));
  }, scaled(300_000));
  afterAll(async () => {
    await topic?.[Symbol.asyncDispose]();
    await kafka?.[Symbol.asyncDispose]();
  });

  test(
    'loses and repeats nothing while each broker is replaced by one with an empty disk',
    async () => {
      await using _publisher = await topic.startPublisher();
      await using stream = await topic.openStream();
      await using subscriber = subscribe(stream);
      for (const [node, address] of REPLACED) {
        await closeLogInStep(topic, stream, subscriber);
        const writing = topic.write(10);
        await kafka.kill(node);
        stream.openLog();
        await writing;
        await kafka.replace(node, address);
        await topic.write(5);
        await untilPublished(topic);
      }
      await closeLogInStep(topic, stream, subscriber);
      await topic.write(5);
      await demandReceived(subscriber, await topic.changes());
    },
    scaled(300_000),
  );
});
