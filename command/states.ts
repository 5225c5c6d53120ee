import { LRUCache } from 'lru-cache';
import type { Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { type Appended, type NewEvent, NO_STREAM } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { personsWith } from '#shared/snapshots/persons.ts';
import { weigh } from '#shared/weigh.ts';
import type { Folding, Known } from './decider.ts';
import {
  FOLDED_AGAIN_EVENTS,
  type Kept,
  type ReadDependencies,
  readOn,
  readWhole,
  snapshotsOf,
  stateAt,
} from './read-state.ts';

/** The maximum weight of all cached states; long texts count by length. */
const WEIGHT_MAX = 64 * 1_048_576;

/** Saves use connections that commands need; a skipped save is made up by the next. */
const SAVES_AT_ONCE_MAX = 2;

/**
 * The states of aggregates, folded from the log and cached. The log’s check of the expected version guards
 * against stale ones.
 */
export type States = {
  /** The cached state, if any: fast, but perhaps stale. */
  recall<State, Event extends AnnalsEvent>(
    decider: Folding<State, Event>,
    stream: StreamName,
  ): Known<State> | undefined;
  /** The current state: reads new events, and verifies that the log still has the last known one. */
  load<State, Event extends AnnalsEvent>(
    decider: Folding<State, Event>,
    stream: StreamName,
  ): Promise<Known<State>>;
  /**
   * Like `load` without the cache, which may contain erased data. A snapshot decrypts only if nothing was
   * erased.
   */
  reload<State, Event extends AnnalsEvent>(
    decider: Folding<State, Event>,
    stream: StreamName,
  ): Promise<Known<State>>;
  /** The state after an existing event of the stream. Not cached. */
  at<State, Event extends AnnalsEvent>(
    decider: Folding<State, Event>,
    stream: StreamName,
    event: Appended,
  ): Promise<State>;
  /** Updates the cache with events just appended to a known state. */
  advance<State, Event extends AnnalsEvent>(
    decider: Folding<State, Event>,
    advanced: Advanced<State, Event>,
  ): void;
};

type Advanced<State, Event> = {
  readonly stream: StreamName;
  readonly from: Known<State>;
  readonly events: readonly Event[];
  /** The same events as appended. */
  readonly encoded: readonly Pick<NewEvent, 'id' | 'data'>[];
  readonly to: { readonly version: Version; readonly position: Position };
};

type Dependencies = ReadDependencies & { readonly weightMax?: number };

export const createStates = ({ log, codec, snapshots, weightMax = WEIGHT_MAX }: Dependencies): States => {
  // A stream has one decider, so a cached state has the type of that decider.
  const cache = new LRUCache<StreamName, Kept>({
    maxSize: weightMax,
    sizeCalculation: ({ known }) => weigh(known.state),
  });
  const loading = new Map<StreamName, Promise<Kept>>();
  let saves = 0;
  const dependencies = { log, codec, snapshots };

  const save = async (decider: Folding<unknown, never>, stream: StreamName, kept: Kept): Promise<void> => {
    saves += 1;
    try {
      await snapshots?.save(snapshotsOf({ decider, stream, persons: kept.persons }, [kept.known]));
    } catch {
      // The state is cached with the events that it was folded from; the next save has them as well.
    } finally {
      saves -= 1;
    }
  };
  const keep = <State>(decider: Folding<State, never>, stream: StreamName, given: Kept<State>): void => {
    const isDue =
      given.persons !== undefined &&
      given.known.version - given.savedAt >= FOLDED_AGAIN_EVENTS &&
      saves < SAVES_AT_ONCE_MAX;
    const kept = isDue ? { ...given, savedAt: given.known.version } : given;
    if (isDue) void save(decider, stream, given);
    const newer = cache.peek(stream);
    if (!newer || newer.known.version < kept.known.version) cache.set(stream, kept);
  };
  /**
   * Concurrent loads of an uncached stream share one fold; callers that join it read later events themselves.
   */
  const readOnce = <State, Event extends AnnalsEvent>(
    decider: Folding<State, Event>,
    stream: StreamName,
  ): Promise<Kept<State>> => {
    const reading: Promise<Kept<State>> = readWhole(dependencies, decider, stream).finally(() => {
      if (loading.get(stream) === reading) loading.delete(stream);
    });
    loading.set(stream, reading);
    return reading;
  };
  return {
    recall: <State>(_decider: unknown, stream: StreamName) =>
      cache.get(stream)?.known as Known<State> | undefined,
    async load<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName) {
      const joined = loading.get(stream);
      const found = cache.get(stream) ?? (joined && (await joined.catch(() => undefined)));
      const remembered = found?.known.event === undefined ? undefined : (found as Kept<State>);
      const grown = remembered && (await readOn(dependencies, { decider, stream, from: remembered }));
      // A log that went back has another history, so the cached state is void.
      if (remembered && !grown && cache.peek(stream)?.known === remembered.known) cache.delete(stream);
      const whole = grown ?? (await readOnce(decider, stream));
      if (whole.known.version > NO_STREAM) keep(decider, stream, whole);
      return whole.known;
    },
    async reload(decider, stream) {
      const found = await readWhole(dependencies, decider, stream);
      if (found.known.version > NO_STREAM) cache.set(stream, found);
      return found.known;
    },
    at: (decider, stream, event) => stateAt(dependencies, { decider, stream, event }),
    advance(decider, { stream, from, events, encoded, to }) {
      // A repeated append returns the version of the first one, from which the events do not follow.
      if (to.version !== from.version + events.length) return;
      const state = events.reduce((folded, event) => decider.evolve(folded, event), from.state);
      const before = cache.peek(stream);
      const isBase = before?.known.version === from.version && before.known.event === from.event;
      const persons = from.version === NO_STREAM ? new Set<UserId>() : isBase ? before.persons : undefined;
      keep(decider, stream, {
        known: { state, ...to, event: encoded.at(-1)?.id ?? from.event },
        persons: personsWith(persons, encoded),
        savedAt: isBase ? before.savedAt : NO_STREAM,
      });
    },
  };
};
