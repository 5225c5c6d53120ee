import type { EventId, Position } from '#kernel/base/brands.ts';
import { charactersIn } from '#shared/event-log/characters-in.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';

/** A batch of events, with the prepared result of each of its pages. */
export type Batch<Ready> = { readonly events: readonly RecordedEvent[]; readonly ready: readonly Ready[] };

type Following<Ready> = {
  readonly eventLog: EventLog;
  readonly signal: AbortSignal;
  /** The event at the starting position, if it is known. */
  readonly event?: EventId | undefined;
  /** Called for one page after the other. */
  prepare(events: readonly RecordedEvent[]): Promise<Ready>;
};

/** The maximum that waits while the caller is busy, in addition to the page that is being read. */
const EVENTS_MAX = 5_000;
const CHARACTERS_MAX = 8 * 1_048_576;

/**
 * Follows the log, and keeps reading and preparing while the caller is busy: the caller then gets all of that
 * at once, so that batches are large exactly when it lags. Yields the events before a failure first.
 */
export async function* followAhead<Ready>(
  following: Following<Ready>,
  after: Position,
): AsyncGenerator<Batch<Ready>> {
  const leaving = new AbortController();
  const signal = AbortSignal.any([following.signal, leaving.signal]);
  const waiting = new Waiting<Ready>();
  const filling = fill(waiting, { ...following, signal }, after);
  try {
    for (let batch = await waiting.take(); batch; batch = await waiting.take()) yield batch;
  } finally {
    leaving.abort();
    waiting.close();
    await filling;
  }
}

const fill = async <Ready>(
  waiting: Waiting<Ready>,
  { eventLog, signal, event, prepare }: Following<Ready>,
  after: Position,
): Promise<void> => {
  try {
    for await (const events of eventLog.follow(after, signal, event)) {
      waiting.put(events, await prepare(events));
      await waiting.hasRoom();
      if (signal.aborted) break;
    }
    waiting.close();
  } catch (error) {
    waiting.fail(error);
  }
};

/** A buffer between a producer and a consumer; each waits for the other. */
class Waiting<Ready> {
  #events: RecordedEvent[] = [];
  #ready: Ready[] = [];
  #characters = 0;
  #end: { readonly error?: unknown } | undefined;
  #changed = Promise.withResolvers<void>();

  put(events: readonly RecordedEvent[], ready: Ready): void {
    this.#events.push(...events);
    this.#ready.push(ready);
    for (const { data } of events) this.#characters += charactersIn(data);
    this.#change();
  }

  async hasRoom(): Promise<void> {
    while (!this.#end && (this.#events.length >= EVENTS_MAX || this.#characters >= CHARACTERS_MAX))
      await this.#changed.promise;
  }

  /** Everything in the buffer, once there is something; undefined at the end. */
  async take(): Promise<Batch<Ready> | undefined> {
    while (this.#events.length === 0 && !this.#end) await this.#changed.promise;
    const batch = { events: this.#events, ready: this.#ready };
    if (batch.events.length === 0) {
      if (this.#end && 'error' in this.#end) throw this.#end.error;
      return undefined;
    }
    this.#events = [];
    this.#ready = [];
    this.#characters = 0;
    this.#change();
    return batch;
  }

  close(): void {
    this.#end ??= {};
    this.#change();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#change();
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
