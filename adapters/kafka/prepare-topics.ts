import type { Admin, ITopicConfig } from 'kafkajs';
import type { KafkaAddress } from './kafka-url.ts';

/** An existing topic cannot keep one order. */
export class UnusableTopic extends Error {
  constructor(topic: string, partitions: number) {
    super(
      `The topic ${topic} of CHANGE_STREAM_URL has ${partitions} partitions but must have one: set another topic, or delete this one`,
    );
    this.name = 'UnusableTopic';
  }
}

/**
 * The largest event, with the other fields of a change. Consumers need no setting: Kafka delivers a single
 * message of any size.
 */
const MESSAGE_BYTES_MAX = 2 * 1_048_576;

/** Creates missing topics; existing ones stay as they are. */
export const prepareTopics = async (admin: Admin, address: KafkaAddress): Promise<void> => {
  const { topic, copy } = address;
  const known = new Set(await admin.listTopics());
  const missing = [
    topicOf(address, topic, 1),
    ...(copy ? [topicOf(address, copy.topic, copy.partitions)] : []),
  ].filter((each) => !known.has(each.topic));
  if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true });
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions.length ?? 0;
  if (partitions !== 1) throw new UnusableTopic(topic, partitions);
};

const topicOf = (
  { retentionMs, replicas = BROKERS_OWN }: KafkaAddress,
  topic: string,
  numPartitions: number,
): ITopicConfig => ({
  topic,
  numPartitions,
  replicationFactor: replicas,
  configEntries: [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'retention.ms', value: String(retentionMs) },
    { name: 'max.message.bytes', value: String(MESSAGE_BYTES_MAX) },
  ],
});

const BROKERS_OWN = -1;
