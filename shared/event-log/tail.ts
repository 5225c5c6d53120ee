// Over 200 lines, because the window, the reads from it and the proof that it has no gap are one thing.
import type { Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { type RecordedEvent, type Seen, START } from './event-log.ts';
import { wholeAppends } from './whole-appends.ts';

/** The result of reading the log after a position. */
export type LogPage = {
  /**
   * The event at that position, if one begins there; for a position between events, the last one before it, or
   * the record with which the log begins.
   */
  readonly at: Seen | undefined;
  readonly events: readonly RecordedEvent[];
  /** In bytes, of each event. */
  readonly sizes: readonly number[];
  /** The id of the record at that position, and at `last`, for an engine that writes records of its own. */
  readonly atRecord?: string | undefined;
  readonly lastRecord?: string | undefined;
  /**
   * The page is complete up to here. It may be after the last event, because an engine may write records of
   * its own.
   */
  readonly last: Position;
  /** There may be more behind it. */
  readonly isCut: boolean;
  /** The connection failed before the page was complete. */
  readonly isAway: boolean;
};

/** A page, with the time of the read and the number of notifications before it. */
export type TailPage = Omit<LogPage, 'sizes'> & { readonly notified: number; readonly lookedAtMs: number };

type TailOptions = {
  readonly clock: Clock;
  /** The next events after a position, and after `seen`, if that is known as the last event before it. */
  read(after: Position, seen: Seen | undefined): Promise<LogPage>;
  /** The number of notifications so far. */
  notified(): number;
  /** Whether there may be events after a position that were stored since notification number `notified`. */
  hasNews(after: Position, notified: number): boolean;
  /** Whether a subscription adds new records to the window. */
  isLive?(): boolean;
  /** Whether other processes can notify this one. */
  isListening?(): boolean;
};

/** How often the end of the log is read if notifications cannot arrive. */
export const POLL_MS = 250;
/**
 * The same if they can. A notification follows its commit, and gets lost if the process or its connection ends
 * in between.
 */
const POLL_LISTENING_MS = 4_000;

/** How long a window that is live may go without such a read. */
const LIVE_UNREAD_MAX_MS = 1_000;

const WINDOW_EVENTS_MAX = 2_000;
const WINDOW_BYTES_MAX = 4 * 1_048_576;
const PAGE_EVENTS_MAX = 1_000;

/**
 * A record that a live subscription has delivered; without an event if the engine has written it for itself.
 */
type LiveRecord = {
  readonly position: Position;
  /** Undefined for a position up to which there are no further events. */
  readonly id: string | undefined;
  readonly event: RecordedEvent | undefined;
};

type Window = {
  /** The window has every event after this position. */
  start: Position;
  /** The last event before it, if one is known, or the record with which the log begins. */
  before: Seen | undefined;
  events: RecordedEvent[];
  sizes: number[];
  bytes: number;
  end: Position;
  endRecord: string | undefined;
  isCut: boolean;
  notified: number;
  lookedAtMs: number;
};

/**
 * A window of the newest events, shared by all followers of a process. The first follower at the end of the
 * log reads the next page, and the others get it from the window. A follower with more lag reads pages of its
 * own until it reaches the window. Events are kept as stored, so encrypted data cannot be read here once its
 * key is deleted.
 */
export class Tail {
  readonly #options: TailOptions;
  readonly #reading = new Map<Position, Promise<TailPage>>();
  #window: Window | undefined;
  #isVerifying = false;

  constructor(options: TailOptions) {
    this.#options = options;
  }

  /** How often the end of the log is read if no notification arrives. */
  get pollMs(): number {
    return this.#options.isListening?.() ? POLL_LISTENING_MS : POLL_MS;
  }

  /** Of the times of its pages. */
  get clock(): Clock {
    return this.#options.clock;
  }

  /**
   * The page after a position: from the window if it has it and agrees with `seen`, otherwise read from the
   * log.
   */
  after(last: Position, seen: Seen | undefined): Promise<TailPage> {
    const page = this.#known(last, seen);
    return page === undefined ? this.look(last, seen) : Promise.resolve(page);
  }

  /** Reads the log. Followers that ask for the same position at the same time share one read. */
  look(last: Position, seen?: Seen): Promise<TailPage> {
    const reading =
      this.#reading.get(last) ?? this.read(last, seen).finally(() => this.#reading.delete(last));
    this.#reading.set(last, reading);
    return reading;
  }

  /** If it fails, the next follower reads the log itself. */
  #verify(end: Position): void {
    if (this.#isVerifying) return;
    this.#isVerifying = true;
    const over = () => {
      this.#isVerifying = false;
    };
    this.read(end, this.newest).then(over, over);
  }

  /** Reads the log from now on. */
  async read(last: Position, seen?: Seen): Promise<TailPage> {
    const looked = { notified: this.#options.notified(), lookedAtMs: this.#options.clock.elapsedMs() };
    const begun = this.#window && { window: this.#window, end: endOf(this.#window) };
    const { sizes, ...page } = await this.#options.read(last, seen);
    this.#keep(last, { ...page, ...looked }, { sizes, begun });
    return { ...page, ...looked };
  }

  /** The window has everything up to here; `START` if there is none. */
  get end(): Position {
    return this.#window?.end ?? START;
  }

  /** The last event of the window, or before it. */
  get newest(): Seen | undefined {
    return this.#window && endOf(this.#window).newest;
  }

  /**
   * Adds the record that follows the one at `after`. Returns false if the window does not reach as far as
   * that.
   */
  push(after: Position, { position, id, event }: LiveRecord): boolean {
    const window = this.#window;
    if (window === undefined || window.end < after) return false;
    if (position <= window.end) return true;
    if (event) {
      add(window, event, position - window.end);
    }
    window.end = position;
    window.endRecord = id;
    shorten(window);
    return true;
  }

  /**
   * Adds what this process has appended after the event that was the newest of the log then. If the window has
   * another event there, the log has lost its end: the next follower reads it, and finds out.
   */
  append(before: Seen | undefined, appended: () => readonly { event: RecordedEvent; bytes: number }[]): void {
    const window = this.#window;
    const after = before?.position ?? START;
    // Others have appended something that was not read yet.
    if (window === undefined || window.end < after) return;
    const events = appended();
    const known = [before, ...events.map(({ event }) => event)].filter(
      (each) => (each?.position ?? START) <= window.end,
    );
    if (!known.every((each) => isIn(window, each))) {
      this.#window = undefined;
      return;
    }
    for (const { event, bytes } of events.slice(known.length - 1)) {
      add(window, event, bytes);
      window.end = event.position;
      window.endRecord = undefined;
    }
    shorten(window);
  }

  #known(last: Position, seen: Seen | undefined): TailPage | undefined {
    const window = this.#window;
    if (window === undefined || last < window.start || last > window.end) return undefined;
    const { lookedAtMs, end } = window;
    // Reads the log now and then, to verify that it still has the events of the window. A live window need
    // not wait for that.
    const unreadMs = this.#options.clock.elapsedMs() - lookedAtMs;
    if (unreadMs >= this.pollMs) {
      if (!this.#options.isLive?.() || unreadMs >= LIVE_UNREAD_MAX_MS) return undefined;
      this.#verify(end);
    }
    if (last === end) {
      if (window.isCut || this.#options.hasNews(end, window.notified)) return undefined;
      // None of the notifications so far was news.
      window.notified = this.#options.notified();
    }
    const first = window.events.findLastIndex(({ position }) => position <= last) + 1;
    const at = first === 0 ? window.before : seenOf(window.events[first - 1]);
    if (seen !== undefined && seen.id !== at?.id) return undefined;
    const page = window.events.slice(first, first + PAGE_EVENTS_MAX);
    const next = window.events[first + page.length];
    const events = next === undefined ? page : page.slice(0, wholeAppends(page, next));
    const rest = window.events.length - first - events.length;
    const reached = rest > 0 ? (events.at(-1)?.position ?? last) : end;
    return {
      ...{ at, events, last: reached, isCut: rest > 0 || window.isCut, isAway: false },
      notified: window.notified,
      lookedAtMs: this.#isVerifying ? this.#options.clock.elapsedMs() : lookedAtMs,
    };
  }

  #keep(after: Position, page: TailPage, { sizes, begun }: Kept): void {
    const { events, last, lastRecord, isAway, notified, lookedAtMs } = page;
    const isCut = page.isCut || isAway;
    if (isAway && events.length === 0) return;
    const known = this.#window;
    if (known !== undefined && last < known.end) {
      if (isCut) return;
      // Not on its page are records that were pushed since the read began, and a position that only a
      // subscription has reported. Otherwise the log has lost its end, or has other events there.
      const isWhole =
        begun?.window === known &&
        last >= begun.end.shown &&
        isContinued(begun.end, after, page) &&
        hasEvent(known, events.at(-1));
      this.#window = isWhole ? Object.assign(known, { isCut, notified, lookedAtMs }) : undefined;
      return;
    }
    const window =
      known !== undefined && isContinued(endOf(known), after, page) ? known : beginAfter(after, page);
    const fresh = events.findIndex(({ position }) => position > window.end);
    if (fresh >= 0) {
      window.events.push(...events.slice(fresh));
      window.sizes.push(...sizes.slice(fresh));
      for (const size of sizes.slice(fresh)) window.bytes += size;
    }
    shorten(window);
    this.#window = Object.assign(window, { end: last, endRecord: lastRecord, isCut, notified, lookedAtMs });
  }
}

/** The end of a window: its position, the record there if one is known, and the newest event. */
type End = {
  readonly position: Position;
  readonly record: string | undefined;
  readonly newest: Seen | undefined;
  /** As far as every page reaches that is read up to the end. */
  readonly shown: Position;
};

type Kept = {
  readonly sizes: readonly number[];
  readonly begun: { readonly window: Window; readonly end: End } | undefined;
};

const endOf = ({ events, before, end, endRecord }: Window): End => {
  const newest = seenOf(events.at(-1)) ?? before;
  const shown = endRecord === undefined && newest ? newest.position : end;
  return { position: end, record: endRecord, newest, shown };
};

/** Whether an event of a page is in the window, or before it. */
const hasEvent = ({ start, events }: Window, event: RecordedEvent | undefined): boolean =>
  event === undefined ||
  event.position <= start ||
  events.findLast(({ position }) => position <= event.position)?.id === event.id;

/** Whether the window knows this event as the one at its position; or, without one, that none came before. */
const isIn = ({ start, before, events }: Window, seen: Seen | undefined): boolean => {
  const position = seen?.position ?? START;
  const known = position <= start ? before : events.findLast((event) => event.position === position);
  return position >= start && known?.id === seen?.id;
};

const add = (window: Window, event: RecordedEvent, bytes: number): void => {
  window.events.push(event);
  window.sizes.push(bytes);
  window.bytes += bytes;
};

const seenOf = (event: RecordedEvent | undefined): Seen | undefined =>
  event && { position: event.position, id: event.id };

/**
 * The page has the record at the end of the window, or its newest event, at the same position, so both are of
 * one history.
 */
const isContinued = (end: End, after: Position, { at, atRecord, events }: TailPage): boolean => {
  if (after > end.position) return false;
  if (after === end.position && end.record !== undefined) return atRecord === end.record;
  if (end.newest === undefined) return after === end.position;
  const { position, id } = end.newest;
  const shown = at?.position === position ? at : events.findLast((event) => event.position === position);
  return shown?.id === id;
};

const beginAfter = (after: Position, { at }: TailPage): Window => ({
  ...{ start: after, before: at, events: [], sizes: [], bytes: 0 },
  ...{ end: after, endRecord: undefined, isCut: true, notified: 0, lookedAtMs: Number.NEGATIVE_INFINITY },
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
