import type { LogIdentity, Position } from '#shared/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import type { Log } from '#shared/process/log.ts';
import type { ChangePage, ChangeStream } from '../change-stream.ts';
import { createKafka } from './client.ts';
import type { KafkaPlace } from './kafka-url.ts';
import { KafkaTail } from './tail.ts';

export type KafkaChangeStreamOptions = {
  readonly place: KafkaPlace;
  readonly identity: LogIdentity;
  readonly catalogue: Catalogue;
  readonly log: Log;
  /** What is not in Kafka, not any more, or not yet, is read from here. It is disposed with the stream. */
  readonly fromLog: ChangeStream;
  /** Kafka may be read while it cannot be written to: silence so long makes one look into the log. */
  readonly silenceMaxMs?: number;
};

/** Rings come with the messages; this is how soon silence is noticed. */
const LOOK_AGAIN_MS = 500;
/** Whoever follows the log goes over to Kafka where its messages come so soon after. */
const DELAY_MAX_MS = 1_000;
const SILENCE_MAX_MS = 2_000;

/**
 * Hears changes from Kafka: one consumer for all who follow in this process, so that the log and its database
 * are spared. Whoever asks for what Kafka does not have, or follows while it is silent, is served from the
 * log, and goes over to Kafka exactly where it has got to, once the two are in step.
 */
export const openKafkaChangeStream = async (options: KafkaChangeStreamOptions): Promise<ChangeStream> => {
  const { place, identity, catalogue, log, fromLog, silenceMaxMs = SILENCE_MAX_MS } = options;
  const kafka = await createKafka(place, log);
  const tail = new KafkaTail({ kafka, topic: place.topic, identity, catalogue, log });
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
 * Ends where Kafka has not got what comes next, does not answer, or has nothing to tell for a while: the log
 * may know more, and it tells what has gone by that nobody hears of.
 */
async function* followTail(
  { tail, silenceMaxMs }: Sources,
  after: Position,
  signal: AbortSignal,
): AsyncGenerator<ChangePage> {
  const { recent, bell, isAlive } = tail;
  let seen = after;
  let toldAtMs = performance.now();
  while (!signal.aborted && isAlive() && performance.now() - toldAtMs < silenceMaxMs) {
    const { heard } = bell;
    const changes = recent.since(seen);
    const last = changes?.at(-1);
    if (changes === undefined) return;
    if (last === undefined) {
      await bell.wait(heard, LOOK_AGAIN_MS, signal);
      continue;
    }
    seen = last.position;
    yield { changes, upTo: seen, event: last.id };
    toldAtMs = performance.now();
  }
}

/**
 * Ends where Kafka is in step: how long after the log it had a change is looked at for one change after
 * another.
 */
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
