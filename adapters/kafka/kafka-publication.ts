import { setTimeout as delay } from 'node:timers/promises';
import { type Kafka, Partitioners, type Producer, type TopicMessages } from 'kafkajs';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { ChangeToPublish, Publication } from '#shared/change-stream/publication.ts';
import type { NamingLog } from '#shared/event-log/own-cursor.ts';
import type { Log } from '#shared/log.ts';
import { ANSWER_WITHIN_MS, createKafka } from './client.ts';
import { copyOf } from './copy-message.ts';
import type { KafkaAddress } from './kafka-url.ts';
import { type EncodedMessage, toMessage } from './message.ts';
import { prepareTopics, UnusableTopic } from './prepare-topics.ts';
import { within } from './within.ts';

export type KafkaPublicationOptions = {
  readonly address: KafkaAddress;
  readonly eventLog: NamingLog;
  readonly log: Log;
  /** The URL by which consumers know this installation. */
  readonly publicUrl: string;
};

const RETRY_MS = 1_000;
const CLOSE_WITHIN_MS = 1_000;
/** The start does not wait for an unreachable Kafka. */
const START_WITHIN_MS = 5_000;
/** Includes the check of the topics. */
const CONNECT_WITHIN_MS = 4 * ANSWER_WITHIN_MS;
const TELL_EVERY = 60;
/** The maximum of a request, except for a single message that is larger. */
const BATCH_BYTES_MAX = 524_288;
const BATCH_MESSAGES_MAX = 500;

/**
 * Publishes to Kafka: one request at a time, each acknowledged by all replicas in sync. Repeated requests
 * repeat messages, which consumers recognize by their positions, instead of KafkaJS’s idempotence, which
 * loses count of its sequence (its issue 598).
 */
export const openKafkaPublication = async ({
  address,
  eventLog,
  log,
  publicUrl,
}: KafkaPublicationOptions): Promise<Publication> => {
  const connection = new Connection(await createKafka(address, log), address);
  await within(connection.producer(), START_WITHIN_MS).catch(async (cause: unknown) => {
    await connection.close();
    const refusal = refusalIn(cause);
    if (refusal !== undefined) throw new StartRefused(`${refusal}.`, { cause });
    log.warn({ err: cause }, 'Kafka does not answer yet; changes are published as soon as it does.');
  });

  /** Retries until it succeeds: the order forbids continuing with anything else. */
  const send = async (messages: readonly Copied[], signal: AbortSignal): Promise<void> => {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const producer = await within(connection.producer(), CONNECT_WITHIN_MS, signal);
        const batch = { topicMessages: topicsOf(address, messages), acks: -1, timeout: ANSWER_WITHIN_MS };
        await within(producer.sendBatch(batch), 2 * ANSWER_WITHIN_MS, signal);
        if (attempt > 1) log.info({ attempt }, 'Changes are published again.');
        return;
      } catch (err) {
        await connection.close();
        if (signal.aborted) return;
        if (attempt === 1 || attempt % TELL_EVERY === 0)
          log.error({ err, attempt }, 'Changes cannot be published; publishing is retried.');
        await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  };

  const encode = (change: ChangeToPublish): Copied => {
    const own = toMessage(eventLog, change);
    const { copy } = address;
    return copy ? { ...own, copied: copyOf(copy.format, own, change, { eventLog, publicUrl }) } : own;
  };

  return {
    async publish(changes, signal) {
      for (const batch of inBatches(changes.map(encode))) await send(batch, signal);
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
};

/** A message, and the one of the copy. */
type Copied = EncodedMessage & { readonly copied?: EncodedMessage };

const topicsOf = ({ topic, copy }: KafkaAddress, messages: readonly Copied[]): TopicMessages[] => [
  { topic, messages: messages.map(({ copied: _, ...message }) => ({ ...message, partition: 0 })) },
  ...(copy ? [{ topic: copy.topic, messages: messages.flatMap(({ copied }) => copied ?? []) }] : []),
];

export function* inBatches(messages: readonly Copied[]): Generator<readonly Copied[]> {
  let batch: Copied[] = [];
  let bytes = 0;
  for (const message of messages) {
    if (
      batch.length === BATCH_MESSAGES_MAX ||
      (batch.length > 0 && bytes + message.value.length > BATCH_BYTES_MAX)
    ) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(message);
    bytes += message.value.length;
  }
  if (batch.length > 0) yield batch;
}

/** A producer that has failed once is not used again. */
class Connection {
  readonly #kafka: Kafka;
  readonly #address: KafkaAddress;
  #opening: Promise<Producer> | undefined;

  constructor(kafka: Kafka, address: KafkaAddress) {
    this.#kafka = kafka;
    this.#address = address;
  }

  producer(): Promise<Producer> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Does not wait long for a broker that does not respond. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (!opening) return;
    const closing = opening.then((producer) => producer.disconnect());
    await within(closing, CLOSE_WITHIN_MS).catch(() => {});
  }

  async #open(): Promise<Producer> {
    await this.#prepareTopics();
    const producer = this.#kafka.producer({
      allowAutoTopicCreation: false,
      idempotent: false,
      maxInFlightRequests: 1,
      // Partitions keys as Java’s clients do, so that others find them.
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    const connecting = producer.connect();
    await within(connecting, 2 * ANSWER_WITHIN_MS).catch((error: unknown) => {
      void connecting.then(() => producer.disconnect()).catch(() => {});
      throw error;
    });
    return producer;
  }

  async #prepareTopics(): Promise<void> {
    const admin = this.#kafka.admin();
    try {
      const preparing = admin.connect().then(() => prepareTopics(admin, this.#address));
      await within(preparing, 2 * ANSWER_WITHIN_MS);
    } finally {
      await within(admin.disconnect(), CLOSE_WITHIN_MS).catch(() => {});
    }
  }
}

/** A failure that waiting does not fix, in words for the operator; undefined for every other failure. */
const refusalIn = (error: unknown): string | undefined => {
  for (
    let cause = error, depth = 0;
    cause instanceof Error && depth < 5;
    cause = causeOf(cause), depth += 1
  ) {
    if (cause instanceof UnusableTopic) return cause.message;
    if (cause.name === 'KafkaJSSASLAuthenticationError')
      return 'Kafka refuses the user of CHANGE_STREAM_URL: correct its name, password and sasl';
    if (CERTIFICATE.test(cause.message))
      return `The certificate of Kafka is not trusted (${cause.message}): set its authority with ca= in CHANGE_STREAM_URL`;
  }
  return undefined;
};

const CERTIFICATE = /certificate|altnames/i;

/** KafkaJS stores a cause in one of two fields. */
const causeOf = (error: Error & { originalError?: unknown }): unknown => error.cause ?? error.originalError;
