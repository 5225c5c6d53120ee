import { LRUCache } from 'lru-cache';
import type { EventId, Position, StreamName, Version } from '#shared/brands.ts';
import { type EventLog, FIRST, type NewEvent, NO_STREAM, START } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { weigh } from '#shared/weigh.ts';
import type { Decider } from './decider.ts';

/** What it takes to fold a stream: a decider without its decisions. */
type Folding<State, Event> = Pick<Decider<State, never, Event>, 'initial' | 'evolve'>;

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
  readonly encoded: readonly Pick<NewEvent, 'id'>[];
  readonly to: { readonly version: Version; readonly position: Position };
};

export const createStates = ({ log, codec, weightMax = WEIGHT_MAX }: { log: EventLog; codec: Codec; weightMax?: number }): States => {
  // A stream has one decider, so that what is kept under its name is of that decider's kind of state.
  const kept = new LRUCache<StreamName, Known<unknown>>({ maxSize: weightMax, sizeCalculation: ({ state }) => weigh(state) });
  const keep = (stream: StreamName, known: Known<unknown>): void => {
    const newer = kept.peek(stream);
    if (!newer || newer.version < known.version) kept.set(stream, known);
  };
  const read = async <State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Promise<Known<State>> => {
    const known = await readOn({ log, codec }, { decider, stream, from: unwritten(decider.initial) });
    if (!known) throw new Error(`${stream} does not begin with its first event`);
    return known;
  };
  const recall: States['recall'] = <State>(_decider: unknown, stream: StreamName) => kept.get(stream) as Known<State> | undefined;
  return {
    recall,
    async load(decider, stream) {
      const remembered = recall(decider, stream);
      const grown = remembered && (await readOn({ log, codec }, { decider, stream, from: remembered }));
      // A log that went back tells another history, and what was remembered of the former one is worth nothing.
      if (remembered && !grown && kept.peek(stream) === remembered) kept.delete(stream);
      const known = grown ?? (await read(decider, stream));
      if (known.version > NO_STREAM) keep(stream, known);
      return known;
    },
    async reload(decider, stream) {
      const known = await read(decider, stream);
      if (known.version > NO_STREAM) kept.set(stream, known);
      return known;
    },
    advance(decider, { stream, from, events, encoded, to }) {
      // A repeated append is answered with the version of then, which says nothing about what follows from `from`.
      if (to.version !== from.version + events.length) return;
      const state = events.reduce((folded, event) => decider.evolve(folded, event), from.state);
      keep(stream, { state, ...to, event: encoded.at(-1)?.id ?? from.event });
    },
  };
};

type Reading<State, Event> = {
  readonly decider: Folding<State, Event>;
  readonly stream: StreamName;
  readonly from: Known<State>;
};

/** Reads from the last event that is known; nothing where the log does not have that one. */
const readOn = async <State, Event extends AnnalsEvent>(
  { log, codec }: { log: EventLog; codec: Codec },
  { decider, stream, from }: Reading<State, Event>,
): Promise<Known<State> | undefined> => {
  let known = from;
  let isThere = from.event === undefined;
  for await (const page of log.read(stream, Math.max(from.version, FIRST) as Version)) {
    const [first] = page;
    if (!isThere && first?.id !== from.event) return undefined;
    const fresh = isThere ? page : page.slice(1);
    isThere = true;
    for (const event of await codec.decodeAll(fresh)) {
      const { version, position, id } = event;
      known = { state: decider.evolve(known.state, event as never), version, position, event: id };
    }
  }
  return isThere ? known : undefined;
};
