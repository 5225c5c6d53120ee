import type { Position } from '#shared/brands.ts';
import { type RecordedEvent, type Seen, START } from './event-log.ts';

/** The result of reading the log after a position. */
export type LogPage = {
  /** The event at that position, if one begins there. */
  readonly at: Seen | undefined;
  readonly events: readonly RecordedEvent[];
  /** In bytes, of each event. */
  readonly sizes: readonly number[];
  /** The page is complete up to here. It may be after the last event, because an engine may write records of its own. */
  readonly last: Position;
  /** There may be more behind it. */
  readonly isCut: boolean;
  /** The connection failed before the page was complete. */
  readonly isAway: boolean;
};

/** A page, with the time of the read and the bell's count before it. */
export type TailPage = Omit<LogPage, 'sizes'> & { readonly heard: number; readonly lookedAtMs: number };

type TailOptions = {
  /** The next events after a position. */
  read(after: Position): Promise<LogPage>;
  /** How often the bell has rung. */
  heard(): number;
  /** Whether there may be events after a position that were stored since the bell's count was `heard`. */
  hasNews(after: Position, heard: number): boolean;
};

/** How often the end of the log is read if no notification arrives. */
export const POLL_MS = 250;

const WINDOW_EVENTS_MAX = 2_000;
const WINDOW_BYTES_MAX = 4 * 1_048_576;
const PAGE_EVENTS_MAX = 1_000;

type Window = {
  /** It has every event after this. */
  start: Position;
  /** The last event before it, if one is known. */
  before: Seen | undefined;
  events: RecordedEvent[];
  sizes: number[];
  bytes: number;
  end: Position;
  isCut: boolean;
  heard: number;
  lookedAtMs: number;
};

/**
 * A window of the newest events, shared by all followers of a process. The first follower at the end of the log reads the next page,
 * and the others get it from the window. A follower with more lag reads pages of its own until it reaches the window. Events are kept as
 * stored, so encrypted data cannot be read here once its key is deleted.
 */
export class Tail {
  readonly #options: TailOptions;
  readonly #reading = new Map<Position, Promise<TailPage>>();
  #window: Window | undefined;

  constructor(options: TailOptions) {
    this.#options = options;
  }

  /** The page after a position: from the window if it has it and agrees with `seen`, otherwise read from the log. */
  after(last: Position, seen: Seen | undefined): Promise<TailPage> {
    const page = this.#known(last, seen);
    return page === undefined ? this.look(last) : Promise.resolve(page);
  }

  /** Reads the log. Followers that ask for the same position at the same time share one read. */
  look(last: Position): Promise<TailPage> {
    const reading = this.#reading.get(last) ?? this.#read(last).finally(() => this.#reading.delete(last));
    this.#reading.set(last, reading);
    return reading;
  }

  async #read(last: Position): Promise<TailPage> {
    const looked = { heard: this.#options.heard(), lookedAtMs: performance.now() };
    const { sizes, ...page } = await this.#options.read(last);
    this.#keep(last, { ...page, ...looked }, sizes);
    return { ...page, ...looked };
  }

  #known(last: Position, seen: Seen | undefined): TailPage | undefined {
    const window = this.#window;
    if (window === undefined || last < window.start || last > window.end) return undefined;
    const { heard, lookedAtMs, end } = window;
    // Read the log now and then, to verify that it still has the events of the window.
    if (performance.now() - lookedAtMs >= POLL_MS) return undefined;
    if (last === end && (window.isCut || this.#options.hasNews(end, heard))) return undefined;
    const first = window.events.findLastIndex(({ position }) => position <= last) + 1;
    const at = first === 0 ? window.before : seenOf(window.events[first - 1]);
    if (seen !== undefined && seen.id !== at?.id) return undefined;
    const events = window.events.slice(first, first + PAGE_EVENTS_MAX);
    const rest = window.events.length - first - events.length;
    const reached = rest > 0 ? (events.at(-1)?.position ?? last) : end;
    return { at, events, last: reached, isCut: rest > 0 || window.isCut, isAway: false, heard, lookedAtMs };
  }

  #keep(after: Position, page: TailPage, sizes: readonly number[]): void {
    const { events, last, isAway, heard, lookedAtMs } = page;
    const isCut = page.isCut || isAway;
    if (isAway && events.length === 0) return;
    const known = this.#window;
    if (known !== undefined && last < known.end) {
      // Either the log has lost its end, or this read began earlier.
      if (!isCut) this.#window = undefined;
      return;
    }
    const window = known !== undefined && isContinued(known, after, page) ? known : beginAfter(after, page);
    const fresh = events.findIndex(({ position }) => position > window.end);
    if (fresh >= 0) {
      window.events.push(...events.slice(fresh));
      window.sizes.push(...sizes.slice(fresh));
      for (const size of sizes.slice(fresh)) window.bytes += size;
    }
    shorten(window);
    this.#window = Object.assign(window, { end: last, isCut, heard, lookedAtMs });
  }
}

const seenOf = (event: RecordedEvent | undefined): Seen | undefined => event && { position: event.position, id: event.id };

/** The page has the newest event of the window at the same position, so both are of one history. */
const isContinued = (window: Window, after: Position, { at, events }: TailPage): boolean => {
  if (after > window.end) return false;
  const newest = window.events.at(-1) ?? window.before;
  if (newest === undefined) return after === window.end;
  const { id } = (at?.position === newest.position ? at : events.find(({ position }) => position === newest.position)) ?? {};
  return id === newest.id;
};

const beginAfter = (after: Position, { at }: TailPage): Window => ({
  ...{ start: after, before: at, events: [], sizes: [], bytes: 0 },
  ...{ end: after, isCut: true, heard: 0, lookedAtMs: Number.NEGATIVE_INFINITY },
});

/** Drops half of the window, so that this is rare. */
const shorten = (window: Window): void => {
  if (window.events.length <= WINDOW_EVENTS_MAX && window.bytes <= WINDOW_BYTES_MAX) return;
  let dropped = 0;
  while (window.events.length - dropped > WINDOW_EVENTS_MAX / 2 || window.bytes > WINDOW_BYTES_MAX / 2) {
    window.bytes -= window.sizes[dropped] ?? 0;
    dropped += 1;
  }
  window.before = seenOf(window.events[dropped - 1]);
  window.start = window.before?.position ?? START;
  window.events.splice(0, dropped);
  window.sizes.splice(0, dropped);
};
