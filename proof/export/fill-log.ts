import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { Stopped } from '#shared/projection/catch-up.ts';
import { CHAIN_START, type ChainState, extendBy } from '../chain/chain-at.ts';
import { type Canonical, hashOf } from '../stored/canonical.ts';
import { appendInOrder, type Order } from './append-in-order.ts';

type Filling = {
  readonly target: Pick<EventLog, 'append' | 'follow' | 'head' | 'identity'>;
  readonly order: Order;
  /** The state of the chain at the start of the source. */
  readonly before?: ChainState;
  readonly signal: AbortSignal;
  /** Called with the number of source events that the log has. */
  onEvents(count: number): void;
};

export type Filled = ChainState & { readonly appended: number };

/**
 * Fills a log with exactly these events; it may already contain the first ones. Refuses a log with any other
 * event. Reads appended events back: the returned chain is that of the events now in the log.
 */
export const fillLog = async (
  filling: Filling,
  source: AsyncIterable<readonly Canonical[]>,
): Promise<Filled> => {
  const { target, order, signal } = filling;
  await using present = new Present(target, await target.head());
  let state = await present.skip(filling.before ?? CHAIN_START);
  const begun = state.count;
  let count = 0;
  // Reads the next events while these are appended.
  let appending: Promise<Position> | undefined;
  try {
    for await (const events of source) {
      if (signal.aborted) throw new Stopped();
      const missing = await present.matched(events);
      for (const event of events.slice(0, events.length - missing.length)) state = extendBy(state, event);
      const after = (await appending) ?? present.last;
      if (missing.length > 0) appending = appendInOrder(target, order, missing, after);
      // A failure is handled where the promise is awaited.
      appending?.catch(() => {});
      count += events.length;
      filling.onEvents(count);
    }
    if (signal.aborted) throw new Stopped();
  } finally {
    await appending;
  }
  const last = await appending;
  await present.demandEnd();
  const appended = begun + count - state.count;
  for await (const events of readBetween(target, { after: present.last, upTo: last ?? present.last }))
    for (const event of events) state = extendBy(state, event);
  return { ...state, appended };
};

/** The events that the log had before; only reads. */
export class Present implements AsyncDisposable {
  readonly #pages: AsyncGenerator<readonly RecordedEvent[]>;
  readonly #head: Position;
  #page: readonly RecordedEvent[] = [];
  #taken = 0;
  #count = 0;
  last: Position = START;

  constructor(target: Filling['target'], head: Position) {
    this.#pages = readBetween(target, { after: START, upTo: head });
    this.#head = head;
  }

  /** Skips the events before those to be filled in. */
  async skip({ count, head }: ChainState): Promise<ChainState> {
    let state = CHAIN_START;
    for (let event = await this.#next(); state.count < count; event = await this.#next()) {
      if (!event)
        throw new StartRefused(
          `The target log has ${state.count} events, but this export continues after ${count}.`,
        );
      this.#take(event);
      state = extendBy(state, event);
    }
    if (!state.head.equals(head))
      throw new StartRefused(
        `The first ${count} events of the target log differ from those before this export.`,
      );
    return state;
  }

  /** The events that are missing because the log ends before them. */
  async matched<Event extends Canonical>(events: readonly Event[]): Promise<readonly Event[]> {
    for (const [index, event] of events.entries()) {
      const found = await this.#next();
      if (!found) return events.slice(index);
      if (!hashOf(found).equals(hashOf(event)))
        throw new StartRefused(
          `The target log is neither empty nor the start of this: its event ${this.#count + 1}, ${found.stream}@${found.version} at position ${found.position}, differs. Use an empty log.`,
        );
      this.#take(found);
    }
    return [];
  }

  async demandEnd(): Promise<void> {
    const found = await this.#next();
    if (found)
      throw new StartRefused(
        `The target log has further events: from ${found.stream}@${found.version} at position ${found.position} on.`,
      );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pages.return(undefined);
  }

  #take({ position }: RecordedEvent): void {
    this.#taken += 1;
    this.#count += 1;
    this.last = position;
  }

  async #next(): Promise<RecordedEvent | undefined> {
    while (this.#taken === this.#page.length && this.last < this.#head) {
      const { value, done } = await this.#pages.next();
      if (done === true) break;
      [this.#page, this.#taken] = [value, 0];
    }
    return this.#page[this.#taken];
  }
}
