// Over 200 lines, because it is one cache: the known part of each stream, and up to which position.
import { LRUCache } from 'lru-cache';
import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Watch } from '#kernel/visibility/watches.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { isInLog } from '#shared/snapshots/is-in-log.ts';
import { readingSteps } from '#shared/snapshots/reading-steps.ts';
import { SNAPSHOT_EVERY_EVENTS, type Snapshot, type Snapshots } from '#shared/snapshots/snapshots.ts';
import {
  type History,
  historyFrom,
  nothingKnown,
  rightsFoldOf,
  type Seen,
  seeFor,
  snapshotOf,
  takeEvent,
} from './history.ts';

/** Every event after one position and up to another, included. */
export type Span = { readonly after: Position; readonly upTo: Position };

/** A step takes about two hundred bytes. */
const STEPS_MAX = 100_000;
/** The weight of an entry beside its steps. */
const ENTRY_STEPS = 2;
const READS_AT_ONCE_MAX = 8;

type Options = {
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly catalogue: Catalogue;
  /** By kind of stream. */
  readonly watches: ReadonlyMap<string, Watch>;
  readonly stepsMax?: number | undefined;
  /** Long streams are read from a snapshot instead of from their first events. */
  readonly snapshots?: Snapshots | undefined;
};

/**
 * Past states of aggregates, cached for those that were needed lately. Followers of the log pass every event
 * through this cache. While one follows in order, a known aggregate stays known, and its stream is read at
 * most once.
 */
export class Histories {
  readonly #eventLog: Pick<EventLog, 'read'>;
  readonly #catalogue: Catalogue;
  readonly #watches: ReadonlyMap<string, Watch>;
  readonly #snapshots: Snapshots | undefined;
  readonly #known: LRUCache<StreamName, History>;
  readonly #loading = new Map<StreamName, { readonly upTo: Position; readonly history: Promise<History> }>();
  /** The furthest span of which every event was applied. */
  #covered: Span = { after: START, upTo: START };

  constructor({ eventLog, catalogue, watches, snapshots, stepsMax = STEPS_MAX }: Options) {
    this.#eventLog = eventLog;
    this.#snapshots = snapshots;
    this.#catalogue = catalogue;
    this.#watches = watches;
    this.#known = new LRUCache({ maxSize: stepsMax, sizeCalculation: ({ weight }) => weight + ENTRY_STEPS });
  }

  follows(stream: StreamName): boolean {
    return this.#watchOf(stream) !== undefined;
  }

  /** Applies the events of a span; it must contain all events of watched streams. */
  async take(all: readonly Seen[], span: Span): Promise<void> {
    const watched: (readonly [Seen, Watch])[] = [];
    for (const seen of all) {
      const watch = this.#watchOf(seen.event.stream);
      if (watch !== undefined) watched.push([seen, watch]);
    }
    // A read that began before these events existed must not miss them.
    while (this.#loading.size > 0) {
      const loading = watched.flatMap(([{ event }]) => this.#loading.get(event.stream)?.history ?? []);
      if (loading.length === 0) break;
      await Promise.allSettled(loading);
    }
    const isAhead = span.upTo > this.#covered.upTo;
    for (const [seen, watch] of watched) this.#takeOne(seen, watch, { span, isAhead });
    if (!isAhead) return;
    const isNext = span.after <= this.#covered.upTo;
    this.#covered = {
      after: isNext ? (Math.min(span.after, this.#covered.after) as Position) : span.after,
      upTo: span.upTo,
    };
  }

  /**
   * Returns the histories of some streams, known at each requested position, which the log has reached. Reads
   * unknown parts from the log, or from `eventLog` if reads are charged to a request.
   */
  async find(
    wanted: ReadonlyMap<StreamName, Span>,
    eventLog = this.#eventLog,
  ): Promise<ReadonlyMap<StreamName, History>> {
    const found = new Map<StreamName, History>();
    const unknown: [StreamName, Span][] = [];
    for (const [stream, span] of wanted) {
      const history = this.#known.get(stream);
      if (history && history.from <= span.after && this.#knownUpTo(history) >= span.upTo)
        found.set(stream, history);
      else unknown.push([stream, span]);
    }
    const remaining = unknown.values();
    const load = async () => {
      for (const [stream, span] of remaining) found.set(stream, await this.#load(stream, span, eventLog));
    };
    await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE_MAX, unknown.length) }, load));
    return found;
  }

  #watchOf(stream: StreamName): Watch | undefined {
    const watch = this.#watches.get(this.#catalogue.kindOf(stream) ?? '');
    return watch?.hasHistory ? watch : undefined;
  }

  #takeOne(
    seen: Seen,
    watch: Watch,
    { span, isAhead }: { readonly span: Span; readonly isAhead: boolean },
  ): void {
    const { stream, position, type } = seen.event;
    const history = this.#known.get(stream);
    if (history && this.#knownUpTo(history) >= span.after) {
      takeEvent(history, watch, seen);
      // Its weight has changed.
      this.#known.set(stream, history);
      return;
    }
    const fold = watch.folds.get(type);
    // The cached span lags behind, so this span lacks events in between.
    if (!isAhead || seen.clear === undefined || !fold?.isWhole) this.#known.delete(stream);
    else {
      const from = fold.isCreation ? START : ((position - 1) as Position);
      const begun = nothingKnown(from);
      takeEvent(begun, watch, seen);
      this.#known.set(stream, { ...begun, from: fold.isCreation ? START : position });
    }
  }

  /**
   * A deleted aggregate never changes. A history that is known at the beginning of the covered span is known
   * to its end.
   */
  #knownUpTo({ upTo, isOver }: History): number {
    if (isOver) return Number.POSITIVE_INFINITY;
    return upTo >= this.#covered.after ? Math.max(upTo, this.#covered.upTo) : upTo;
  }

  /** Concurrent loads share one read, unless it began before the wanted position existed. */
  async #load(stream: StreamName, { after, upTo }: Span, eventLog: Pick<EventLog, 'read'>): Promise<History> {
    for (let loading = this.#loading.get(stream); loading; loading = this.#loading.get(stream)) {
      const [joined] = await Promise.allSettled([loading.history]);
      // The shared read may fail because its caller used up its read budget; that is no failure of this
      // caller.
      if (loading.upTo >= upTo && joined.status === 'fulfilled' && joined.value.from <= after)
        return joined.value;
    }
    const readable = Math.max(upTo, this.#covered.upTo) as Position;
    const history = this.#read(stream, { after, upTo: readable }, eventLog).finally(() =>
      this.#loading.delete(stream),
    );
    this.#loading.set(stream, { upTo: readable, history });
    return history;
  }

  /** Reads only the new events of a known stream. */
  async #read(stream: StreamName, wanted: Span, eventLog: Pick<EventLog, 'read'>): Promise<History> {
    const known = this.#known.get(stream);
    const reading = { history: known && known.from <= wanted.after ? known : nothingKnown(START) };
    const watch = this.#watchOf(stream);
    try {
      if (watch) await this.#readOn(reading, watch, { stream, wanted, eventLog });
    } catch (error) {
      // Nobody knows who may see it, like an aggregate whose first event is damaged.
      if (error instanceof StreamCut) return this.#keepUpTo(stream, reading.history, wanted);
      // Events that pass by are taken for complete, so a partial stream is kept only while none pass by.
      if (this.#covered.upTo > START) this.#known.delete(stream);
      else this.#known.set(stream, reading.history);
      throw error;
    }
    // The read saw every event that had arrived by now.
    return this.#keepUpTo(stream, reading.history, wanted);
  }

  #keepUpTo(stream: StreamName, history: History, wanted: Span): History {
    if (history.upTo < wanted.upTo) history.upTo = wanted.upTo;
    this.#known.set(stream, history);
    return history;
  }

  /**
   * Reads as far as wanted. Continues from a snapshot of a long stream, and leaves snapshots for readers of
   * its other parts.
   */
  async #readOn(
    reading: { history: History },
    watch: Watch,
    { stream, wanted, eventLog }: Reading,
  ): Promise<void> {
    const steps = readingSteps();
    for (;;) {
      const { history } = reading;
      const most = steps.next();
      const snapshots: Snapshot[] = [];
      let count = 0;
      for await (const events of eventLog.read(
        stream,
        (history.version + 1) as Version,
        (history.version + most) as Version,
      )) {
        count += events.length;
        for (const event of events) {
          takeEvent(history, watch, seeFor(this.#catalogue, watch, event));
          if (event.version % SNAPSHOT_EVERY_EVENTS === 0)
            snapshots.push(...snapshotOf(history, watch, event));
        }
      }
      await this.#snapshots?.save(snapshots);
      if (count < most || history.upTo >= wanted.upTo) return;
      if (steps.count > 1) continue;
      const jumped = await this.#snapshotAfter(history, watch, { stream, wanted, eventLog });
      if (jumped) steps.jump();
      reading.history = jumped ?? history;
    }
  }

  async #snapshotAfter(
    history: History,
    watch: Watch,
    { stream, wanted, eventLog }: Reading,
  ): Promise<History | undefined> {
    const found = await this.#snapshots?.find(stream, rightsFoldOf(watch), wanted.after);
    if (found === undefined || found.version <= history.version) return undefined;
    if (await isInLog(eventLog, found)) return historyFrom(found);
    await this.#snapshots?.discard(stream, rightsFoldOf(watch));
    return undefined;
  }
}

type Reading = {
  readonly stream: StreamName;
  readonly wanted: Span;
  readonly eventLog: Pick<EventLog, 'read'>;
};
