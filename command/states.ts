// Over 200 lines, because it is one cache: states of aggregates from the log, from memory and from snapshots.
import { LRUCache } from 'lru-cache';
import type { EventId, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import {
  type Appended,
  type EventLog,
  FIRST,
  type NewEvent,
  NO_STREAM,
  type RecordedEvent,
  START,
} from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { type Persons, personsAfter, personsWith } from '#shared/snapshots/persons.ts';
import {
  type Fold,
  SNAPSHOT_EVERY_EVENTS,
  type Snapshot,
  type Snapshots,
} from '#shared/snapshots/snapshots.ts';
import { weigh } from '#shared/weigh.ts';
import type { Folding } from './decider.ts';

/** The state of a stream with its last event; a stream without events has none. */
export type Known<State> = {
  readonly state: State;
  readonly version: Version;
  readonly position: Position;
  readonly event: EventId | undefined;
};

/** The state of a stream without events. */
export const unwritten = <State>(initial: State): Known<State> => ({
  state: initial,
  version: NO_STREAM,
  position: START,
  event: undefined,
});

/** The maximum weight of all cached states; long texts count by length. */
const WEIGHT_MAX = 64 * 1_048_576;

/**
 * Without a snapshot at hand, at most this many events are folded again, plus the page in which the stream
 * turns out to be long; more only if saving snapshots failed.
 */
const FOLDED_AGAIN_EVENTS = 256;
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

/** A state with the data for its next snapshot. */
type Kept<State = unknown> = {
  readonly known: Known<State>;
  readonly persons: Persons;
  /** The version of its last snapshot. */
  readonly savedAt: Version;
};

type Dependencies = {
  readonly log: EventLog;
  readonly codec: Codec;
  /** Without snapshots, long streams are folded from their first event. */
  readonly snapshots?: Snapshots | undefined;
  readonly weightMax?: number;
};

type ReadDependencies = Pick<Dependencies, 'log' | 'codec' | 'snapshots'>;

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

const nothing = <State>({ initial }: Pick<Folding<State, never>, 'initial'>): Kept<State> => ({
  known: unwritten(initial),
  persons: new Set(),
  savedAt: NO_STREAM,
});

/** Without a definition, there are no snapshots. */
const foldOf = ({ definition = '' }: Pick<Folding<unknown, never>, 'definition'>): Fold => ({
  fold: 'state',
  definition,
});

type Of = {
  readonly decider: Pick<Folding<unknown, never>, 'definition'>;
  readonly stream: StreamName;
  readonly persons: Persons;
};

const snapshotsOf = (
  { decider, stream, persons }: Of,
  all: readonly Known<unknown>[],
): readonly Snapshot[] => {
  if (decider.definition === undefined || persons === undefined) return [];
  return all.flatMap(({ event, ...known }) =>
    event === undefined ? [] : [{ ...foldOf(decider), ...known, stream, event, persons: [...persons] }],
  );
};

type Reading<State, Event> = {
  readonly decider: Folding<State, Event>;
  readonly stream: StreamName;
  readonly from: Kept<State>;
  /** The last version to read; all by default. */
  readonly to?: Version;
  /** Whether to resume from the latest snapshot if the stream turns out to be long. */
  readonly mayJump?: boolean;
};

/**
 * Reads on from the last known event; undefined if the log does not have that event. For a long stream,
 * resumes from a snapshot, or saves some for later reads of earlier states.
 */
const readOn = async <State, Event extends AnnalsEvent>(
  dependencies: ReadDependencies,
  { decider, stream, from, to, mayJump: mayGoOn = true }: Reading<State, Event>,
): Promise<Kept<State> | undefined> => {
  const { log, codec, snapshots } = dependencies;
  let { known, persons } = from;
  let [isThere, mayJump] = [
    known.event === undefined,
    mayGoOn && snapshots !== undefined && decider.definition !== undefined,
  ];
  let read = 0;
  for await (const page of pagesFrom(log, stream, { from: Math.max(known.version, FIRST) as Version, to })) {
    const [first] = page;
    if (!isThere && first?.id !== known.event) return undefined;
    const fresh = isThere ? page : page.slice(1);
    isThere = true;
    read += fresh.length;
    if (mayJump && read >= FOLDED_AGAIN_EVENTS) {
      mayJump = false;
      const found = await snapshotOf(snapshots, { decider, stream });
      const later = found && found.known.version > known.version ? found : undefined;
      const jumped = later && (await readOn(dependencies, { decider, stream, from: later, mayJump: false }));
      if (jumped) return jumped;
      if (later) await snapshots?.discard(stream, foldOf(decider));
    }
    persons = await personsAfter(snapshots, persons, fresh);
    const passed: Known<State>[] = [];
    for (const event of await codec.decodeAll(fresh)) {
      const { version, position, id } = event;
      known = { state: decider.evolve(known.state, event as never), version, position, event: id };
      if (version % SNAPSHOT_EVERY_EVENTS === 0) passed.push(known);
    }
    known = upToLast(known, fresh);
    await snapshots?.save(snapshotsOf({ decider, stream, persons }, passed));
  }
  return isThere ? { ...from, known, persons } : undefined;
};

/** The codec may omit events, and they count as versions too. */
const upToLast = <State>(known: Known<State>, events: readonly RecordedEvent[]): Known<State> => {
  const last = events.at(-1);
  if (last === undefined || last.version === known.version) return known;
  const { version, position, id } = last;
  return { ...known, version, position, event: id };
};

const readWhole = async <State, Event extends AnnalsEvent>(
  dependencies: ReadDependencies,
  decider: Folding<State, Event>,
  stream: StreamName,
): Promise<Kept<State>> => {
  const found = await readOn(dependencies, { decider, stream, from: nothing(decider) });
  if (!found) throw new Error(`${stream} does not begin with its first event`);
  return found;
};

type Past<State, Event> = Pick<Reading<State, Event>, 'decider' | 'stream'> & { readonly event: Appended };

const stateAt = async <State, Event extends AnnalsEvent>(
  dependencies: ReadDependencies,
  { decider, stream, event: { version: to, position } }: Past<State, Event>,
): Promise<State> => {
  const { snapshots } = dependencies;
  const readTo = (from: Kept<State>) => readOn(dependencies, { decider, stream, from, to, mayJump: false });
  const snapshot =
    to > FOLDED_AGAIN_EVENTS ? await snapshotOf(snapshots, { decider, stream, upTo: position }) : undefined;
  const jumped = snapshot && (await readTo(snapshot));
  if (snapshot && !jumped) await snapshots?.discard(stream, foldOf(decider));
  const found = jumped ?? (await readTo(nothing(decider)));
  if (found?.known.version !== to) throw new Error(`${stream} has no version ${to}`);
  return found.known.state;
};

/** Reads a first batch, which covers short streams, and then the rest. */
async function* pagesFrom(
  log: Pick<EventLog, 'read'>,
  stream: StreamName,
  { from, to }: Pages,
): AsyncGenerator<readonly RecordedEvent[]> {
  const last = Math.min(from + FOLDED_AGAIN_EVENTS, to ?? Number.POSITIVE_INFINITY) as Version;
  let version: Version | undefined;
  for await (const page of log.read(stream, from, last)) {
    yield page;
    version = page.at(-1)?.version;
  }
  if (version === last) yield* log.read(stream, (last + 1) as Version, to);
}

type Pages = { readonly from: Version; readonly to: Version | undefined };
type Beyond<State, Event> = Pick<Reading<State, Event>, 'decider' | 'stream'> & { readonly upTo?: Position };

const snapshotOf = async <State, Event>(
  snapshots: Snapshots | undefined,
  { decider, stream, upTo }: Beyond<State, Event>,
): Promise<Kept<State> | undefined> => {
  const found =
    decider.definition === undefined ? undefined : await snapshots?.find(stream, foldOf(decider), upTo);
  if (found === undefined) return undefined;
  const { version, position, event, persons, state } = found;
  return {
    known: { state: state as State, version, position, event },
    persons: new Set(persons),
    savedAt: version,
  };
};
