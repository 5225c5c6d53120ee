// Over 200 lines, because it is one cache: the known part of each stream, and up to which position.
import { LRUCache } from 'lru-cache';
import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { State } from '#kernel/conditions/holds.ts';
import type { Watch } from '#kernel/visibility/watches.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { type ClearEvent, decodeClear } from '#shared/events/decode-clear.ts';
import { isInLog } from '#shared/snapshots/is-in-log.ts';
import { readingSteps } from '#shared/snapshots/reading-steps.ts';
import {
  type Fold,
  SNAPSHOT_EVERY_EVENTS,
  type Snapshot,
  type Snapshots,
} from '#shared/snapshots/snapshots.ts';

/** Every event after one position and up to another, included. */
export type Span = { readonly after: Position; readonly upTo: Position };

/**
 * The clear event is missing if the event is damaged. A damaged event counts only as far as its type shows
 * its effect on the aggregate.
 */
export type Seen = { readonly event: RecordedEvent; readonly clear: ClearEvent | undefined };

/**
 * The part of an aggregate’s state that read rights depend on, at any position after `from` and up to `upTo`,
 * by the positions at which it changed.
 */
export type History = {
  readonly from: Position;
  upTo: Position;
  /** The version of the last event that this history includes. */
  version: Version;
  /** The fields that never change, as soon as an event has stated them. */
  fixed: State | undefined;
  isOver: boolean;
  /** In steps; kept lists count too. */
  weight: number;
  readonly steps: { readonly position: Position; readonly state: State }[];
};

/** The state just before a position; undefined if there was no such aggregate. */
export const stateBefore = ({ fixed, steps }: History, position: Position): State | undefined => {
  const step = steps.findLast((each) => each.position < position);
  return step && { ...fixed, ...step.state };
};

/** The immutable fields that an event states; they hold ids, or null if they are optional. */
export const fixedIn = ({ fixed }: Watch, data: Readonly<Record<string, unknown>>): State => {
  const found: Record<string, unknown> = {};
  for (const [field, key] of fixed)
    if (data[key] === null || Number.isSafeInteger(data[key])) found[field] = data[key];
  return found;
};

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

/** For most changes the type is enough, so those need no decoding. */
const seeFor = (catalogue: Catalogue, { folds }: Watch, event: RecordedEvent): Seen => ({
  event,
  clear: folds.get(event.type)?.takesData ? decodeClear(catalogue, event) : undefined,
});

export const rightsFoldOf = ({ definition }: Watch): Fold => ({ fold: 'rights', definition });

/** A history after its last event, as a snapshot stores it. It holds no personal data. */
type Stored = { readonly fixed: State; readonly state: State; readonly isOver: boolean };

/** No snapshot if the history is incomplete because an event is damaged. */
const snapshotOf = (
  history: History,
  watch: Watch,
  { stream, version, position, id }: RecordedEvent,
): readonly Snapshot[] => {
  const { fixed, isOver } = history;
  const state = history.steps.at(-1)?.state;
  if (
    history.version !== version ||
    fixed === undefined ||
    state === undefined ||
    Object.values(state).includes(undefined)
  )
    return [];
  return [
    {
      ...rightsFoldOf(watch),
      stream,
      version,
      position,
      event: id,
      persons: [],
      state: { fixed, state, isOver } satisfies Stored,
    },
  ];
};

const historyFrom = ({ version, position, state: stored }: Snapshot): History => {
  const { fixed, state, isOver } = stored as Stored;
  return {
    from: position,
    upTo: position,
    version,
    fixed,
    isOver,
    weight: weightOf(state),
    steps: [{ position, state }],
  };
};

/** The snapshots of one stream at some of its versions, folded from its first event. */
export const createRightsFold = (watch: Watch, catalogue: Catalogue) => {
  const history = nothingKnown(START);
  return {
    take: (event: RecordedEvent) => takeEvent(history, watch, seeFor(catalogue, watch, event)),
    stateAfter: (event: RecordedEvent): unknown => snapshotOf(history, watch, event)[0]?.state,
  };
};

const nothingKnown = (from: Position): History => ({
  ...{ from, upTo: from, version: NO_STREAM, fixed: undefined },
  ...{ isOver: false, weight: 0, steps: [] },
});

/** Appends the change of an event; an event that the history already includes changes nothing. */
const takeEvent = (
  history: History,
  watch: Watch,
  { event: { position, version, type, data }, clear }: Seen,
): void => {
  if (position <= history.upTo) return;
  history.upTo = position;
  history.version = version;
  history.fixed ??= whole(watch, fixedIn(watch, data));
  const fold = watch.folds.get(type);
  if (fold === undefined) return;
  const before = history.steps.at(-1)?.state;
  const state = fold.apply(before, clear);
  history.isOver ||= fold.isEnd;
  if (state === undefined || (before !== undefined && !isDifferent(before, state))) return;
  history.steps.push({ position, state });
  history.weight += weightOf(state);
};

/** This many references to items weigh as much as a step. */
const ITEMS_PER_STEP = 16;
const weightOf = (state: State): number =>
  Object.values(state).reduce(
    (sum: number, value) => sum + (Array.isArray(value) ? Math.ceil(value.length / ITEMS_PER_STEP) : 0),
    1,
  );

/** Every event states these fields; one that does not is damaged. */
const whole = ({ fixed }: Watch, found: State): State | undefined =>
  Object.keys(found).length === fixed.length ? found : undefined;

const isDifferent = (one: State, other: State): boolean => {
  const names = Object.keys(other);
  return names.length !== Object.keys(one).length || names.some((name) => one[name] !== other[name]);
};
