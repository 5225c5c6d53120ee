/** Follows everything that is published to Kafka. The argument is a file for how far it has come. */
import { readFile, writeFile } from 'node:fs/promises';
import { Kafka, logLevel } from 'kafkajs';

const { KAFKA_BROKERS = 'localhost:9092', KAFKA_TOPIC = 'annals.changes' } = process.env;
const [, , file = 'kafka-consumer.position'] = process.argv;

/** Messages may come again, and late; what is not above this has been dealt with. */
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
  // An offset is committed when its message has been dealt with, so that none is lost.
  eachMessage: async ({ message }) => {
    const change = JSON.parse(message.value);
    if (change.position <= last) return;
    // What you do with it comes here; keep the position together with that, in one transaction where there is
    // one.
    console.log(String(message.headers.cursor), change.type, change.stream);
    last = change.position;
    await writeFile(file, String(last));
  },
});

/** Who takes leave of the group lets the next one begin at once, and not half a minute later. */
const leave = () => consumer.disconnect().finally(() => process.exit());
process.once('SIGINT', leave).once('SIGTERM', leave);
