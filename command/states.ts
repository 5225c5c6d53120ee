import { LRUCache } from 'lru-cache';
import type { Position, StreamName, Version } from '#shared/brands.ts';
import { type EventLog, FIRST, NO_STREAM, START } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Decider } from './decider.ts';

/** What it takes to fold a stream: a decider without its decisions. */
type Folding<State, Event> = Pick<Decider<State, never, Event>, 'initial' | 'evolve'>;

/** What a stream's events add up to. */
export type Known<State> = { readonly state: State; readonly version: Version; readonly position: Position };

/** What the kept states may weigh together; an article's body counts by its length. */
const WEIGHT_MAX = 64 * 1_048_576;
const WEIGHT_OF_EACH = 300;

/** The states of aggregates, folded from the log and kept for a while: the log's expected version guards against an old one. */
export type States = {
  /** What was last seen here, if anything: fast, and perhaps old. */
  recall<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Known<State> | undefined;
  /** What the log says now; reads only what is not known yet. */
  load<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, stream: StreamName): Promise<Known<State>>;
  /** Takes over what was appended just now on top of a known state. */
  advance<State, Event extends AnnalsEvent>(decider: Folding<State, Event>, advanced: Advanced<State, Event>): void;
};

type Advanced<State, Event> = {
  readonly stream: StreamName;
  readonly from: Known<State>;
  readonly events: readonly Event[];
  readonly to: { readonly version: Version; readonly position: Position };
};

export const createStates = ({ log, codec, weightMax = WEIGHT_MAX }: { log: EventLog; codec: Codec; weightMax?: number }): States => {
  // A stream has one decider, so that what is kept under its name is of that decider's kind of state.
  const kept = new LRUCache<StreamName, Known<unknown>>({ maxSize: weightMax, sizeCalculation: ({ state }) => weigh(state) });
  const keep = (stream: StreamName, known: Known<unknown>): void => {
    const newer = kept.peek(stream);
    if (!newer || newer.version < known.version) kept.set(stream, known);
  };
  const recall: States['recall'] = <State>(_decider: unknown, stream: StreamName) => kept.get(stream) as Known<State> | undefined;
  return {
    recall,
    async load(decider, stream) {
      let known = recall(decider, stream) ?? { state: decider.initial, version: NO_STREAM, position: START };
      for await (const page of log.read(stream, (known.version + FIRST) as Version)) {
        for (const event of await codec.decodeAll(page)) {
          known = { state: decider.evolve(known.state, event as never), version: event.version, position: event.position };
        }
      }
      if (known.version > NO_STREAM) keep(stream, known);
      return known;
    },
    advance(decider, { stream, from, events, to }) {
      // A repeated append is answered with the version of then, which says nothing about what follows from `from`.
      if (to.version !== from.version + events.length) return;
      keep(stream, { state: events.reduce((state, event) => decider.evolve(state, event), from.state), ...to });
    },
  };
};

/** What holding a state takes, in characters. */
export const weigh = (state: unknown): number => WEIGHT_OF_EACH + lengthOf(state);

const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + lengthOf(each), 0);
};
