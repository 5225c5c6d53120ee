/** Consumes all events that Annals publishes to Kafka. The argument is a file for the last position. */
import { readFile, writeFile } from 'node:fs/promises';
import { Kafka, logLevel } from 'kafkajs';

const { KAFKA_BROKERS = 'localhost:9092', KAFKA_TOPIC = 'annals.changes' } = process.env;
const [, , file = 'kafka-consumer.position'] = process.argv;

/** Messages may be repeated or late; positions up to this one have been processed. */
let last = Number(
  await readFile(file, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return '-1';
  }),
);

const kafka = new Kafka({
  clientId: 'follower',
  brokers: KAFKA_BROKERS.split(','),
  retry: { retries: Number.MAX_SAFE_INTEGER },
  logLevel: logLevel.WARN,
});
const consumer = kafka.consumer({ groupId: 'follower' });
await consumer.connect();
await consumer.subscribe({ topic: KAFKA_TOPIC, fromBeginning: true });
await consumer.run({
  // An offset is committed after its message was processed, so that none is lost.
  eachMessage: async ({ message }) => {
    const change = JSON.parse(message.value);
    if (change.position <= last) return;
    // Your processing goes here; store the position together with its result, if possible in one transaction.
    console.log(String(message.headers.cursor), change.type, change.stream);
    last = change.position;
    await writeFile(file, String(last));
  },
});

/** Leaving the group lets the next consumer start at once, not half a minute later. */
const leave = () => consumer.disconnect().finally(() => process.exit());
process.once('SIGINT', leave).once('SIGTERM', leave);
