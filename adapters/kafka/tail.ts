import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import type { Log } from '#shared/log.ts';
import { Notifier } from '#shared/notifier.ts';
import { ANSWER_WITHIN_MS } from './client.ts';
import { fromMessage } from './message.ts';
import { RecentChanges, WORTH_HEARING } from './recent-changes.ts';
import { within } from './within.ts';

type KafkaTailOptions = {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly identity: LogIdentity;
  readonly catalogue: Catalogue;
  readonly log: Log;
  readonly clock: Clock;
};

const FETCH_WAIT_MS = 500;
const FETCH_BYTES_MAX = 4 * 1_048_576;
/** A healthy consumer fetches at least every `FETCH_WAIT_MS`. */
const ALIVE_MS = 3_000;
/** A consumer that is silent for so long is replaced, whatever KafkaJS reports. */
const STALL_MS = 15_000;
const LOOK_AGAIN_MS = 500;
const RETRY_MS = 1_000;
const SESSION_MS = 30_000;

/**
 * Receives the messages at the end of the topic. Each consumer is alone in a group of its own, stores no
 * offsets in Kafka, and gets its start offset whenever it joins, so that a rebalance neither skips nor waits.
 * It only stores messages, and never waits for a subscriber. If it crashes or stalls, another one replaces
 * it.
 */
export class KafkaTail implements AsyncDisposable {
  readonly recent = new RecentChanges();
  /** Notified of new changes. */
  readonly notifier: Notifier;
  readonly #options: KafkaTailOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last message. */
  #failures = 0;
  #next: bigint | undefined;

  constructor(options: KafkaTailOptions) {
    this.#options = options;
    this.notifier = new Notifier(options.clock);
    this.#running = this.#run();
  }

  /** Whether it receives messages. */
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
        log.warn({ err }, 'Changes cannot be received from Kafka; they are read from the log meanwhile.');
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Consumes until that fails; returns the failure. */
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
      if (this.#failures > 0) this.#options.log.info('Changes are received from Kafka again.');
      this.#failures = 0;
    });
    const joining = this.#join(consumer);
    try {
      await within(joining, SESSION_MS, this.#stopping.signal);
      return await Promise.race([crashed.promise, this.#stalls()]);
    } finally {
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
      await within(consumer.disconnect(), RETRY_MS).catch(() => {});
      // A consumer that joins after the timeout would run for ever.
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
          'A message in the topic of changes belongs to another log and is skipped.',
        );
      }
    }
    this.#next = BigInt(batch.lastOffset()) + 1n;
    this.notifier.notify();
  }

  /** Resolves once nothing was fetched from Kafka for too long. */
  async #stalls(): Promise<unknown> {
    const { signal } = this.#stopping;
    const startedAtMs = performance.now();
    while (!signal.aborted && performance.now() - Math.max(this.#askedAtMs, startedAtMs) < STALL_MS) {
      await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
    }
    return new Error(`the consumer has been silent for ${STALL_MS} ms`);
  }

  /** The last offset, or far enough from the end that returning subscribers find the missed changes here. */
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
      // At the first start, or if the topic was created again, has lost its end, or no longer keeps the next
      // message.
      this.#next = undefined;
      const start = end - BigInt(WORTH_HEARING);
      return start > oldest ? start : oldest;
    } finally {
      await within(admin.disconnect(), RETRY_MS).catch(() => {});
    }
  }
}
