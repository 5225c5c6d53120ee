import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { LogIdentity } from '#shared/brands.ts';
import { Doorbell } from '#shared/doorbell.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import type { Log } from '#shared/process/log.ts';
import { ANSWER_WITHIN_MS } from './client.ts';
import { fromMessage } from './message.ts';
import { RecentChanges, WORTH_HEARING } from './recent-changes.ts';
import { within } from './within.ts';

export type KafkaTailOptions = {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly identity: LogIdentity;
  readonly catalogue: Catalogue;
  readonly log: Log;
};

const FETCH_WAIT_MS = 500;
const FETCH_BYTES_MAX = 4 * 1_048_576;
/** A consumer that is well asks again at least every `FETCH_WAIT_MS`. */
const ALIVE_MS = 3_000;
/** One that is silent for so long is given up, whatever KafkaJS thinks of it. */
const STALL_MS = 15_000;
const LOOK_AGAIN_MS = 500;
const RETRY_MS = 1_000;
const SESSION_MS = 30_000;

/**
 * Hears what comes at the end of the topic, for as long as it is there. Each consumer is alone in a group of
 * its own, keeps no offsets in Kafka, and is told where to go on whenever it joins, so that a rebalance
 * neither skips nor waits. It only takes in what comes, and never waits for whoever reads it. Where it
 * crashes or stalls another one takes its place.
 */
export class KafkaTail implements AsyncDisposable {
  readonly recent = new RecentChanges();
  /** Rung for what is new. */
  readonly bell = new Doorbell();
  readonly #options: KafkaTailOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Since it was heard last. */
  #failures = 0;
  /** The offset to go on from. */
  #next: bigint | undefined;

  constructor(options: KafkaTailOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Whether it hears what comes. */
  readonly isAlive = (): boolean => performance.now() - this.#askedAtMs < ALIVE_MS;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { log } = this.#options;
    while (!signal.aborted) {
      const err = await this.#consume().catch((error: unknown) => error);
      if (signal.aborted) return;
      this.#failures += 1;
      if (this.#failures === 1)
        log.warn({ err }, 'Changes are not heard from Kafka now; they are read from the log meanwhile.');
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Consumes until that fails; answers with what it failed of. */
  async #consume(): Promise<unknown> {
    const { kafka, topic } = this.#options;
    const first = await this.#findStart();
    const consumer = kafka.consumer({
      groupId: `annals-${randomUUID()}`,
      sessionTimeout: SESSION_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytes: FETCH_BYTES_MAX,
      maxBytesPerPartition: FETCH_BYTES_MAX,
      allowAutoTopicCreation: false,
      retry: { retries: 2, restartOnFailure: async () => false },
    });
    const crashed = Promise.withResolvers<unknown>();
    consumer.on('consumer.crash', ({ payload }) => crashed.resolve(payload.error));
    consumer.on('consumer.group_join', () =>
      consumer.seek({ topic, partition: 0, offset: String(this.#next ?? first) }),
    );
    consumer.on('consumer.fetch', () => {
      this.#askedAtMs = performance.now();
      if (this.#failures > 0) this.#options.log.info('Changes are heard from Kafka again.');
      this.#failures = 0;
    });
    const joining = this.#join(consumer);
    try {
      await within(joining, SESSION_MS, this.#stopping.signal);
      return await Promise.race([crashed.promise, this.#stalls()]);
    } finally {
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
      await within(consumer.disconnect(), RETRY_MS).catch(() => {});
      // One that joins later than anybody waits for it would go on for ever.
      void joining.then(() => consumer.disconnect()).catch(() => {});
    }
  }

  async #join(consumer: Consumer): Promise<void> {
    const { topic } = this.#options;
    await consumer.connect();
    await consumer.subscribe({ topic });
    await consumer.run({ autoCommit: false, eachBatch: async (payload) => this.#take(payload) });
  }

  #take({ batch }: EachBatchPayload): void {
    const { log } = this.#options;
    for (const message of batch.messages) {
      try {
        this.recent.add(fromMessage(this.#options, message));
      } catch (err) {
        log.error(
          { err, offset: message.offset },
          'A message in the topic of changes is none of this log, and left out.',
        );
      }
    }
    this.#next = BigInt(batch.lastOffset()) + 1n;
    this.bell.ring();
  }

  /** Resolves once nothing has been asked of Kafka for too long. */
  async #stalls(): Promise<unknown> {
    const { signal } = this.#stopping;
    const startedAtMs = performance.now();
    while (!signal.aborted && performance.now() - Math.max(this.#askedAtMs, startedAtMs) < STALL_MS) {
      await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
    }
    return new Error(`the consumer has been silent for ${STALL_MS} ms`);
  }

  /** Where it was left, or so far from the end that those who come back find what they missed here. */
  async #findStart(): Promise<bigint> {
    const { kafka, topic } = this.#options;
    const admin = kafka.admin();
    try {
      const asking = admin.connect().then(() => admin.fetchTopicOffsets(topic));
      const [{ low, high } = { low: '0', high: '0' }] = await within(
        asking,
        2 * ANSWER_WITHIN_MS,
        this.#stopping.signal,
      );
      const [oldest, end] = [BigInt(low), BigInt(high)];
      if (this.#next !== undefined && this.#next >= oldest && this.#next <= end) return this.#next;
      // The first start, or a topic that was made anew, has lost its end, or keeps no longer what comes next.
      this.#next = undefined;
      const start = end - BigInt(WORTH_HEARING);
      return start > oldest ? start : oldest;
    } finally {
      await within(admin.disconnect(), RETRY_MS).catch(() => {});
    }
  }
}
