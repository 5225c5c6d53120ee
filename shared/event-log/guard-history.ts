// Over 200 lines, because it is one guard: how a log that has lost events is noticed.
import type { EventId, Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { askAgain } from './ask-again.ts';
import { LogWentBack } from './errors.ts';
import { type EventLog, type LogServer, type Seen, START } from './event-log.ts';
import type { NewestKept } from './newest-note.ts';

export type GuardedLog = EventLog & {
  /** Throws `LogWentBack` if the log has lost an event that this process has seen. */
  demandHistory(): Promise<void>;
  /** The last event that it remembers. */
  readonly seen: Seen | undefined;
};

type GuardOptions = {
  readonly log: Pick<Log, 'error'>;
  readonly clock: Clock;
  /** Keeps the last event outside of the log as well, for processes that start later. */
  readonly newest?: NewestKept | undefined;
};

/** Events whose cursors clients send back soon. */
const REMEMBERED_MAX = 4_096;
const PAGE_REMEMBERED_MAX = 256;
const LOOK_EVERY_MS = 1_000;
/** The same while the log stands still: a process that appends, reads or follows checks it then. */
const LOOK_STILL_EVERY_MS = 5_000;
/** A log that does not respond must not keep the process from stopping. */
const LAST_NOTE_MAX_MS = 2_000;
/** The newest event may be missing only because a server lags. */
const LATE_MS = 2_000;

/**
 * Remembers the last event that this process has seen, and checks that the log still has it: continuously,
 * before a new follower gets events, and before an append is acknowledged. If it is gone, earlier ones may be
 * gone too, and all state of this process is in doubt: from then on nothing is appended, read or followed
 * here, until the operator has decided and the process restarts.
 */
export const guardHistory = (eventLog: EventLog, options: GuardOptions): GuardedLog => {
  const history = new History(eventLog, options);
  const closed = new AbortController();
  const looking = history.lookNowAndThen(closed.signal);
  return {
    ...eventLog,
    async append(stream, expected, events, when) {
      history.refuseIfLost();
      const seen = history.last;
      try {
        const appended = await eventLog.append(stream, expected, events, { ...when, seen });
        // The repetition of an earlier append, or an append to a log that went back.
        if (seen && appended.position <= seen.position) await history.demand();
        const id = events.at(-1)?.id;
        if (id !== undefined) history.seePage([{ position: appended.position, id }]);
        return appended;
      } catch (error) {
        throw history.report(error);
      }
    },
    async *read(stream, from, to) {
      history.refuseIfLost();
      for await (const page of eventLog.read(stream, from, to)) {
        for (const event of page) history.see(event);
        yield page;
      }
    },
    find(stream, id, after) {
      history.refuseIfLost();
      return eventLog.find(stream, id, after);
    },
    async *follow(after, signal, id) {
      history.refuseIfLost();
      let isFirst = true;
      try {
        for await (const page of eventLog.follow(after, signal, id)) {
          // From here on each page shows that the one before it still exists; only the starting point may be
          // of another history.
          if (isFirst) await history.demand();
          isFirst = false;
          history.refuseIfLost();
          history.seePage(page);
          yield page;
        }
      } catch (error) {
        throw history.report(error);
      }
    },
    ...(eventLog.page && {
      async page(after: Position, max: number) {
        history.refuseIfLost();
        const events = (await eventLog.page?.(after, max)) ?? [];
        await history.demand();
        history.seePage(events);
        return events;
      },
    }),
    demandHistory: () => history.moveOn(),
    reportLost: (cause) => history.reportLost(cause),
    remembered: (position) => history.remembered(position),
    reportForeignCursor: (position) => history.reportForeignCursor(position),
    get seen() {
      return history.last;
    },
    async [Symbol.asyncDispose]() {
      closed.abort();
      await looking;
      await history.end();
      await history.marked;
      await eventLog[Symbol.asyncDispose]();
    },
  };
};

class History {
  readonly #eventLog: EventLog;
  readonly #log: Pick<Log, 'error'>;
  readonly #clock: Clock;
  #last: Seen | undefined;
  #lost: LogWentBack | undefined;
  #asking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #marked: Promise<void> | undefined;
  #server: LogServer | undefined;
  /** In the order in which they were seen. */
  readonly #recent = new Map<Position, EventId>();
  #hasReportedCursor = false;
  readonly #newest: NewestKept | undefined;

  constructor(eventLog: EventLog, { log, clock, newest }: GuardOptions) {
    this.#eventLog = eventLog;
    this.#log = log;
    this.#clock = clock;
    this.#newest = newest;
  }

  see({ position, id }: Seen): void {
    if (position <= (this.#last?.position ?? START)) return;
    this.#last = { position, id };
    this.#remember(position, id);
  }

  /** The events of a full page are old, and nobody asks for them soon. */
  seePage(page: readonly Seen[]): void {
    const last = page.at(-1);
    if (!last) return;
    for (const { position, id } of page.length <= PAGE_REMEMBERED_MAX ? page : [last])
      this.#remember(position, id);
    this.see(last);
  }

  remembered(position: Position): EventId | undefined {
    return this.#lost ? undefined : this.#recent.get(position);
  }

  #remember(position: Position, id: EventId): void {
    this.#recent.set(position, id);
    for (const [oldest] of this.#recent) {
      if (this.#recent.size <= REMEMBERED_MAX) break;
      this.#recent.delete(oldest);
    }
  }

  /** Once: a client can make up as many as it likes. */
  reportForeignCursor(position: Position): void {
    if (this.#hasReportedCursor) return;
    this.#hasReportedCursor = true;
    this.#log.error({ position }, FOREIGN_CURSOR);
  }

  refuseIfLost(): void {
    if (this.#lost) throw this.#lost;
  }

  get last(): Seen | undefined {
    return this.#last;
  }

  /** Resolves once the loss is recorded, or was not confirmed. */
  get marked(): Promise<void> {
    return this.#marked ?? Promise.resolve();
  }

  /** Returns the error; if it says that the log went back, logs that once for the operator. */
  report(error: unknown): unknown {
    if (error instanceof LogWentBack && !this.#lost) {
      this.#lost = error;
      this.#log.error({ err: error }, WENT_BACK);
      this.#marked = this.#orUnmarked(this.#mark(this.#last));
    }
    return error;
  }

  /** The evidence is outside of the log, so that other processes need the mark to know. */
  reportLost(cause: Error): Promise<void> {
    if (!this.#lost) {
      this.#lost = new LogWentBack(undefined, undefined, { cause });
      this.#log.error({ err: this.#lost }, WENT_BACK);
    }
    this.#marked = this.marked.then(() => this.#orUnmarked(this.#eventLog.markLost?.()));
    return this.#marked;
  }

  async #orUnmarked(marking: Promise<void> | undefined): Promise<void> {
    await marking?.catch((err: unknown) =>
      this.#log.error(
        { err },
        'The event log could not be marked as having lost events, so other processes do not know about the loss.',
      ),
    );
  }

  /**
   * Checks that the log has every event seen until now. A caller that arrives during a check waits for one
   * that begins later.
   */
  async demand(): Promise<void> {
    this.refuseIfLost();
    if (!this.#asking) return this.#begin();
    this.#next ??= this.#asking
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    return this.#next;
  }

  async lookNowAndThen(signal: AbortSignal): Promise<void> {
    for (let last: Seen | undefined; !signal.aborted; ) {
      const isStill = last !== undefined && last === this.#last;
      last = this.#last;
      await this.#clock.sleep(isStill ? LOOK_STILL_EVERY_MS : LOOK_EVERY_MS, signal, { ref: false });
      // A log that does not respond says nothing about its history.
      if (!signal.aborted) await this.moveOn().catch(() => {});
    }
  }

  /**
   * A process that follows nothing itself remembers the end of the log; one that has seen none of the lost
   * events learns of them from another.
   */
  async moveOn(): Promise<void> {
    this.refuseIfLost();
    const seen = this.#last;
    const standing = await this.#eventLog.standing?.(seen?.position);
    if (!standing?.events || standing.events.seen !== seen?.id) await this.demand();
    if (standing?.isMarkedLost) throw this.report(new LogWentBack());
    this.#server = standing?.server;
    const newest = standing?.events ? standing.events.newest : await this.#readNewest();
    if (newest) this.see(newest);
    await this.#note();
  }

  async #readNewest(): Promise<Seen | undefined> {
    const position = await this.#eventLog.head();
    if (position <= (this.#last?.position ?? START)) return undefined;
    const id = await this.#eventLog.eventAt(position);
    return id === undefined ? undefined : { position, id };
  }

  async #note(): Promise<void> {
    const ahead = await this.#newest?.ahead(this.#last);
    if (ahead) this.see(ahead);
    else if (this.#last) await this.#newest?.keep(this.#last, this.#server);
  }

  /** Notes the end of the log, unless it does not respond. */
  async end(): Promise<void> {
    if (!this.#newest || this.#lost) return;
    await Promise.race([
      this.#noteEnd().catch(() => {}),
      this.#clock.sleep(LAST_NOTE_MAX_MS, undefined, { ref: false }),
    ]);
  }

  async #noteEnd(): Promise<void> {
    await this.moveOn();
    if (!this.#last || (await this.#eventLog.head()) !== this.#last.position) return;
    await this.#newest?.keep(this.#last, this.#server, { isFinal: true });
  }

  #begin(): Promise<void> {
    this.#asking = this.#look().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #look(): Promise<void> {
    const seen = this.#last;
    if (!seen) return;
    const found = await this.#find(seen, (id) => id !== undefined);
    if (found !== seen.id) throw this.report(new LogWentBack(seen, found));
  }

  /**
   * The mark keeps every process from starting, so only an event that this process has seen in this log
   * itself counts, and only if it stays missing.
   */
  async #mark(seen: Seen | undefined): Promise<void> {
    if (!seen || !this.#eventLog.markLost) return;
    const found = await this.#find(seen, (id) => id === seen.id);
    if (found !== seen.id) await this.#eventLog.markLost(seen);
  }

  #find({ position }: Seen, isEnough: (found: EventId | undefined) => boolean): Promise<EventId | undefined> {
    return askAgain(
      () => this.#eventLog.eventAt(position),
      this.#eventLog.late ?? { ms: LATE_MS, clock: this.#clock },
      isEnough,
    );
  }
}

const FOREIGN_CURSOR =
  'A client has a cursor whose event the event log does not have. Unless the client has made it up, the log has lost events: ' +
  'follow “The log went back” in docs/runbooks.md.';

const WENT_BACK =
  'The event log has lost events: a standby without them was promoted, or an older backup was restored. ' +
  'Nothing more is written or delivered. Decide which history continues, and follow “The log went back” in docs/runbooks.md.';
