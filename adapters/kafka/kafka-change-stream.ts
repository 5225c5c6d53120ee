import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import type { Log } from '#shared/log.ts';
import { createKafka } from './client.ts';
import type { KafkaAddress } from './kafka-url.ts';
import { KafkaTail } from './tail.ts';

export type KafkaChangeStreamOptions = {
  readonly address: KafkaAddress;
  readonly identity: LogIdentity;
  readonly catalogue: Catalogue;
  readonly log: Log;
  readonly clock: Clock;
  /**
   * Changes that Kafka does not have, not any more, or not yet, are read from here. It is disposed with the
   * stream.
   */
  readonly fromLog: ChangeStream;
  /** Kafka may be readable while it is not writable: after this much silence the log is read. */
  readonly silenceMaxMs?: number;
};

/** Messages themselves notify; this is how soon silence is noticed. */
const LOOK_AGAIN_MS = 500;
/** A follower of the log switches to Kafka if its messages arrive within this delay. */
const DELAY_MAX_MS = 1_000;
const SILENCE_MAX_MS = 2_000;

/**
 * Receives changes from Kafka: one consumer for all subscribers of this process, which spares the log and its
 * database. A subscriber before the beginning of Kafka’s messages, or during its silence, is served from the
 * log, and switches to Kafka at exactly its position once the two are in step.
 */
export const openKafkaChangeStream = async (options: KafkaChangeStreamOptions): Promise<ChangeStream> => {
  const { address, identity, catalogue, log, clock, fromLog, silenceMaxMs = SILENCE_MAX_MS } = options;
  const kafka = await createKafka(address, log);
  const tail = new KafkaTail({ kafka, topic: address.topic, identity, catalogue, log, clock });
  const closed = new AbortController();
  return {
    follow: (after, signal) =>
      follow({ tail, fromLog, silenceMaxMs }, after, AbortSignal.any([signal, closed.signal])),
    head: () => fromLog.head(),
    async [Symbol.asyncDispose]() {
      closed.abort();
      await tail[Symbol.asyncDispose]();
      await fromLog[Symbol.asyncDispose]();
    },
  };
};

type Sources = { readonly tail: KafkaTail; readonly fromLog: ChangeStream; readonly silenceMaxMs: number };

async function* follow(sources: Sources, after: Position, signal: AbortSignal): AsyncGenerator<ChangePage> {
  let seen = after;
  let isInStep = (sources.tail.recent.end ?? START) >= after;
  while (!signal.aborted) {
    for await (const page of isInStep
      ? followTail(sources, seen, signal)
      : followLog(sources, seen, signal)) {
      seen = page.upTo;
      yield page;
    }
    isInStep = !isInStep;
  }
}

/**
 * Ends if Kafka lacks the next change, does not respond, or is silent for a while: the log may know more,
 * including events that are not public.
 */
async function* followTail(
  { tail, silenceMaxMs }: Sources,
  after: Position,
  signal: AbortSignal,
): AsyncGenerator<ChangePage> {
  const { recent, notifier, isAlive } = tail;
  let seen = after;
  let yieldedAtMs = performance.now();
  while (!signal.aborted && isAlive() && performance.now() - yieldedAtMs < silenceMaxMs) {
    const { notified } = notifier;
    const changes = recent.since(seen);
    const last = changes?.at(-1);
    if (changes === undefined) return;
    if (last === undefined) {
      await notifier.wait(notified, LOOK_AGAIN_MS, signal);
      continue;
    }
    seen = last.position;
    yield { changes, upTo: seen, event: last.id };
    yieldedAtMs = performance.now();
  }
}

/** Ends if Kafka is in step: compares, change by change, by how much Kafka lags behind the log. */
async function* followLog(
  { tail, fromLog }: Sources,
  after: Position,
  signal: AbortSignal,
): AsyncGenerator<ChangePage> {
  let mark: { readonly position: Position; readonly atMs: number } | undefined;
  for await (const page of fromLog.follow(after, signal)) {
    const atMs = performance.now();
    yield page;
    const last = page.changes.at(-1);
    if (last) mark ??= { position: last.position, atMs };
    const heardAtMs = mark && tail.recent.heardAtMs(mark.position);
    if (mark === undefined || heardAtMs === undefined) continue;
    if (heardAtMs - mark.atMs <= DELAY_MAX_MS && tail.isAlive() && tail.recent.since(page.upTo) !== undefined)
      return;
    mark = undefined;
  }
}
