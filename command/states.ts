// Over 200 lines, because it is one cache: the states of aggregates, from the log, from memory, and from snapshots.
import { LRUCache } from 'lru-cache';
import type { EventId, Position, StreamName, UserId, Version } from '#shared/brands.ts';
import { type EventLog, FIRST, type NewEvent, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { type Codec, subjectOf } from '#shared/events/codec.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import { weigh } from '#shared/weigh.ts';
import type { Folding } from './decider.ts';

/** What a stream's events add up to, and the last of them; a stream without events has none. */
export type Known<State> = {
  readonly state: State;
  readonly version: Version;
  readonly position: Position;
  readonly event: EventId | undefined;
};

/** Of a stream that has no events. */
export const unwritten = <State>(initial: State): Known<State> => ({
  state: initial,
  version: NO_STREAM,
  position: START,
  event: undefined,
});

/** What the kept states may weigh together; an article's body counts by its length. */
const WEIGHT_MAX = 64 * 1_048_576;

/** So many events are folded again at most, beside the page in which a stream turns out to be long. */
const SNAPSHOT_EVERY_EVENTS = 256;

/** The states of aggregates, folded from the log and kept for a while: the log's expected version guards against an old one. */
export type States = {
  /** What was last seen here, if anything: fast, and perhaps old. */
  recall<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Known<State> | undefined;
  /** What the log says now; reads what is not known yet, and whether the log still has the last event that is. */
  load<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Promise<Known<State>>;
  /** The same, all of it read and opened anew: what is remembered may hold what was erased since. */
  reload<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Promise<Known<State>>;
  /** Takes over what was appended just now on top of a known state. */
  advance<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, advanced: Advanced<State, Event>): void;
};

type Advanced<State, Event> = {
  readonly stream: StreamName;
  readonly from: Known<State>;
  readonly events: readonly Event[];
  /** The same events as they were appended. */
  readonly encoded: readonly Pick<NewEvent, 'id' | 'data'>[];
  readonly to: { readonly version: Version; readonly position: Position };
};

/** With what a snapshot of it takes. */
type Kept<State = unknown> = {
  readonly known: Known<State>;
  /** Whose personal data its events hold; undefined if nobody has seen all of them. */
  readonly persons: ReadonlySet<UserId> | undefined;
  /** The version of its snapshot. */
  readonly savedAt: Version;
};

type Dependencies = {
  readonly log: EventLog;
  readonly codec: Codec;
  /** Without them, long streams are folded from their first event. */
  readonly snapshots?: Snapshots | undefined;
  readonly weightMax?: number;
  /** Told why a snapshot could not be saved, which changes nothing but how long the next fold takes. */
  readonly tellUnsaved?: (error: unknown, stream: StreamName) => void;
};

export const createStates = ({ log, codec, snapshots, weightMax = WEIGHT_MAX, tellUnsaved }: Dependencies): States => {
  // A stream has one decider, so that what is kept under its name is of that decider's kind of state.
  const cache = new LRUCache<StreamName, Kept>({ maxSize: weightMax, sizeCalculation: ({ known }) => weigh(known.state) });
  const loading = new Map<StreamName, Promise<Kept>>();
  const dependencies = { log, codec, snapshots };

  const save = async (definition: string, stream: StreamName, { known, persons }: Kept): Promise<void> => {
    const { state, version, position, event } = known;
    if (event === undefined || persons === undefined) return;
    await snapshots?.save({ stream, version, position, event, definition, persons: [...persons], state });
  };
  const keep = <State>({ definition }: Folding<State, never>, stream: StreamName, given: Kept<State>): void => {
    const isDue = definition !== undefined && given.persons !== undefined && given.known.version - given.savedAt >= SNAPSHOT_EVERY_EVENTS;
    const kept = isDue ? { ...given, savedAt: given.known.version } : given;
    if (isDue) save(definition, stream, given).catch((error: unknown) => tellUnsaved?.(error, stream));
    const newer = cache.peek(stream);
    if (!newer || newer.known.version < kept.known.version) cache.set(stream, kept);
  };
  const read = async <State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Promise<Kept<State>> => {
    const from: Kept<State> = { known: unwritten(decider.initial), persons: new Set(), savedAt: NO_STREAM };
    const found = await readOn(dependencies, { decider, stream, from });
    if (!found) throw new Error(`${stream} does not begin with its first event`);
    return found;
  };
  /** Several that want a stream which nobody knows here wait for one fold; whoever joins looks for what came after it. */
  const readOnce = <State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Promise<Kept<State>> => {
    const reading = read(decider, stream).finally(() => loading.delete(stream));
    loading.set(stream, reading);
    return reading;
  };
  return {
    recall: <State>(_decider: unknown, stream: StreamName) => cache.get(stream)?.known as Known<State> | undefined,
    async load<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName) {
      const joined = loading.get(stream);
      const found = cache.get(stream) ?? (joined && (await joined.catch(() => undefined)));
      const remembered = found?.known.event === undefined ? undefined : (found as Kept<State>);
      const grown = remembered && (await readOn(dependencies, { decider, stream, from: remembered }));
      // A log that went back tells another history, and what was remembered of the former one is worth nothing.
      if (remembered && !grown && cache.peek(stream)?.known === remembered.known) cache.delete(stream);
      const whole = grown ?? (await readOnce(decider, stream));
      if (whole.known.version > NO_STREAM) keep(decider, stream, whole);
      return whole.known;
    },
    async reload(decider, stream) {
      const found = await read(decider, stream);
      if (found.known.version > NO_STREAM) cache.set(stream, found);
      return found.known;
    },
    advance(decider, { stream, from, events, encoded, to }) {
      // A repeated append is answered with the version of then, which says nothing about what follows from `from`.
      if (to.version !== from.version + events.length) return;
      const state = events.reduce((folded, event) => decider.evolve(folded, event), from.state);
      const before = cache.peek(stream);
      const isBase = before?.known === from;
      const persons = from.version === NO_STREAM ? new Set<UserId>() : isBase ? before.persons : undefined;
      keep(decider, stream, {
        known: { state, ...to, event: encoded.at(-1)?.id ?? from.event },
        persons: persons && withSubjects(persons, encoded),
        savedAt: isBase ? before.savedAt : NO_STREAM,
      });
    },
  };
};

/** The same set where there is nobody new. */
const withSubjects = (persons: ReadonlySet<UserId>, events: readonly Pick<RecordedEvent, 'data'>[]): ReadonlySet<UserId> => {
  const others = events.flatMap((event) => subjectOf(event) ?? []).filter((subject) => !persons.has(subject));
  return others.length === 0 ? persons : new Set([...persons, ...others]);
};

type Reading<State, Event> = {
  readonly decider: Folding<State, Event>;
  readonly stream: StreamName;
  readonly from: Kept<State>;
};

/** Reads from the last event that is known; nothing where the log does not have that one. Of a long stream it goes on from a snapshot. */
const readOn = async <State, Event extends AnnalsEvent>(
  dependencies: Pick<Dependencies, 'log' | 'codec' | 'snapshots'>,
  { decider, stream, from }: Reading<State, Event>,
): Promise<Kept<State> | undefined> => {
  const { log, codec, snapshots } = dependencies;
  let { known, persons } = from;
  let [isThere, mayJump] = [known.event === undefined, snapshots !== undefined && decider.definition !== undefined];
  for await (const page of log.read(stream, Math.max(known.version, FIRST) as Version)) {
    const [first] = page;
    if (!isThere && first?.id !== known.event) return undefined;
    const fresh = isThere ? page : page.slice(1);
    isThere = true;
    if (mayJump && fresh.length >= SNAPSHOT_EVERY_EVENTS) {
      mayJump = false;
      const later = await snapshotAfter(snapshots, { decider, stream, version: known.version });
      const jumped = later && (await readOn({ log, codec }, { decider, stream, from: later }));
      if (jumped) return jumped;
    }
    for (const event of await codec.decodeAll(fresh)) {
      const { version, position, id } = event;
      known = { state: decider.evolve(known.state, event as never), version, position, event: id };
    }
    persons = persons && withSubjects(persons, fresh);
  }
  return isThere ? { ...from, known, persons } : undefined;
};

type Beyond<State, Event> = Omit<Reading<State, Event>, 'from'> & { readonly version: Version };

const snapshotAfter = async <State, Event>(
  snapshots: Snapshots | undefined,
  { decider: { definition }, stream, version: known }: Beyond<State, Event>,
): Promise<Kept<State> | undefined> => {
  const found = definition === undefined ? undefined : await snapshots?.find(stream, definition);
  if (found === undefined || found.version <= known) return undefined;
  const { version, position, event, persons, state } = found;
  return { known: { state: state as State, version, position, event }, persons: new Set(persons), savedAt: version };
};
