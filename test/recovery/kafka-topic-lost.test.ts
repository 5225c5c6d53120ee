import { afterAll, beforeAll, describe, test } from 'vitest';
import { createKafka } from '#shared/change-stream/kafka/client.ts';
import { parseKafkaUrl } from '#shared/change-stream/kafka/kafka-url.ts';
import { scaled } from '../../testing/load.ts';
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
import { captureLog } from '../serve.ts';

describe.skipIf(kafkaMissing !== undefined)('a topic that is deleted', () => {
  let kafka: TestKafka;
  let world: KafkaWorld;
  beforeAll(async () => {
    kafka = await startKafka();
    world = await createKafkaWorld(kafka.url('changes'));
  }, scaled(180_000));
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await kafka?.[Symbol.asyncDispose]();
  });

  const deleteTopic = async (): Promise<void> => {
    const place = parseKafkaUrl(world.url);
    if (!place) throw new Error(`${world.url} is no Kafka`);
    const admin = (await createKafka(place, captureLog().log)).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [place.topic] });
    await admin.disconnect();
  };

  test(
    'loses and repeats nothing for its users, and is used again once it is recreated',
    async () => {
      await using _publisher = await world.startPublisher();
      await using stream = await world.openStream();
      await using subscriber = subscribe(stream);
      await closeLogInStep(world, stream, subscriber);
      stream.openLog();
      await deleteTopic();
      await world.write(5);
      await untilReceived(subscriber, await world.changes());
      await untilPublished(world);
      await closeLogInStep(world, stream, subscriber);
      await world.write(5);
      await demandReceived(subscriber, await world.changes());
    },
    scaled(240_000),
  );

  test(
    'and is then followed from an old cursor gives everything from there, once',
    async () => {
      await using _publisher = await world.startPublisher();
      const all = await world.changes();
      const [tenth] = all.slice(9);
      await deleteTopic();
      await using stream = await world.openStream();
      await using subscriber = subscribe(stream, tenth?.position);
      await world.write(3);
      const changes = await world.changes(tenth?.position);
      await demandReceived(subscriber, changes);
    },
    scaled(240_000),
  );
});
