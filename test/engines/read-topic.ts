import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { until } from '../../testing/until.ts';

/** The whole content of a Kafka topic, including keys and headers; empty without Kafka. */
export const readTopic = async (url: string | undefined): Promise<string> => {
  if (!url?.startsWith('kafka:')) return '';
  const { host, pathname } = new URL(url);
  const topic = pathname.slice(1);
  const kafka = new Kafka({ brokers: [host], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const ends = await admin.fetchTopicOffsets(topic).finally(() => admin.disconnect());
  const count = ends.reduce((sum, { offset, low }) => sum + Number(offset) - Number(low), 0);
  if (count === 0) throw new Error(`there is nothing in the topic ${topic} to look at`);
  const messages: string[] = [];
  const consumer = kafka.consumer({ groupId: randomUUID() });
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message: { key, value, headers } }) =>
        void messages.push([key, value, JSON.stringify(headers)].join('\n')),
    });
    await until(
      () => messages.length,
      (length) => length >= count,
      60_000,
    );
  } finally {
    await consumer.disconnect();
  }
  return messages.join('\n');
};
