import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import {
  type Appended,
  type EventLog,
  FIRST,
  NO_STREAM,
  type RecordedEvent,
} from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { type Persons, personsAfter } from '#shared/snapshots/persons.ts';
import {
  type Fold,
  SNAPSHOT_EVERY_EVENTS,
  type Snapshot,
  type Snapshots,
} from '#shared/snapshots/snapshots.ts';
import { type Folding, type Known, unwritten } from './decider.ts';

/**
 * Without a snapshot at hand, at most this many events are folded again, plus the page in which the stream
 * turns out to be long; more only if saving snapshots failed.
 */
export const FOLDED_AGAIN_EVENTS = 256;

/** A state with the data for its next snapshot. */
export type Kept<State = unknown> = {
  readonly known: Known<State>;
  readonly persons: Persons;
  /** The version of its last snapshot. */
  readonly savedAt: Version;
};

export type ReadDependencies = {
  readonly log: EventLog;
  readonly codec: Codec;
  /** Without snapshots, long streams are folded from their first event. */
  readonly snapshots?: Snapshots | undefined;
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

export const snapshotsOf = (
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
export const readOn = async <State, Event extends AnnalsEvent>(
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

export const readWhole = async <State, Event extends AnnalsEvent>(
  dependencies: ReadDependencies,
  decider: Folding<State, Event>,
  stream: StreamName,
): Promise<Kept<State>> => {
  const found = await readOn(dependencies, { decider, stream, from: nothing(decider) });
  if (!found) throw new Error(`${stream} does not begin with its first event`);
  return found;
};

type Past<State, Event> = Pick<Reading<State, Event>, 'decider' | 'stream'> & { readonly event: Appended };

export const stateAt = async <State, Event extends AnnalsEvent>(
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
