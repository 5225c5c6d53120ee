// Over 200 lines, because it is one fold: from a snapshot or the first event up to a position.
import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { idIn } from '#kernel/base/events/streams.ts';
import type { Change } from '#kernel/rows/change.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { type EventLog, NO_STREAM, type RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import {
  after,
  noRow,
  type RowFold,
  rowAfter,
  rowFoldOf,
  rowStored,
  storedRow,
} from '#shared/read-model/row-fold.ts';
import { demandTable, type ProjectedTable, type Tables } from '#shared/read-model/tables.ts';
import { isInLog } from '#shared/snapshots/is-in-log.ts';
import { type Persons, personsAfter } from '#shared/snapshots/persons.ts';
import { readingSteps } from '#shared/snapshots/reading-steps.ts';
import { SNAPSHOT_EVERY_EVENTS, type Snapshot, type Snapshots } from '#shared/snapshots/snapshots.ts';
import { type Kind, rowOf } from './aggregates.ts';
import { decodeEach } from './decode-each.ts';
import { type Exceptions, type FindExceptions, NO_EXCEPTIONS } from './exceptions.ts';

type Row = Readonly<Record<string, unknown>>;

/** The state of an aggregate at a position. */
export type PastState = {
  /** `parked`: a poison event had removed it from the read model. */
  readonly state: 'absent' | 'present' | 'gone' | 'parked';
  /** The row of the read model; undefined if the aggregate was not present. */
  readonly row: Row | undefined;
  /** The items of its lists as the read model had them, by table, unordered. */
  readonly items: ReadonlyMap<string, readonly Row[]>;
  /** The time of its last change. */
  readonly changedAt: string | undefined;
  /** If the log lacks events of it, so that nobody knows the state. */
  readonly cut?: StreamCut | undefined;
  /** The position at which a user was deleted, even if that is later. */
  readonly departedAt: Position | undefined;
};

export type FoldOptions = {
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly codec: Pick<Codec, 'decodeAll'>;
  readonly tables: Tables;
  readonly snapshots: Snapshots;
  readonly exceptionsOf: FindExceptions;
  /** Called with the events read; may throw to stop reading. */
  onRead(events: readonly RecordedEvent[]): Promise<void>;
};

type Folded = { readonly kind: Kind; readonly stream: StreamName; readonly upTo: Position };

/** The state of a fold. */
type Reached = {
  readonly fold: RowFold;
  readonly version: Version;
  /** By a poison event. */
  readonly isParked: boolean;
  readonly persons: Persons;
};

/** Reads a stream up to a position, page by page, and computes the row that the projector wrote. */
export const foldStream = async (options: FoldOptions, folded: Folded): Promise<PastState> => {
  const found = await foldRow(options, folded).catch(orCut);
  if (found instanceof StreamCut) return { ...CUT, cut: found };
  const { fold, isParked, departedAt } = found;
  const pastState = pastStateOf(demandTable(options.tables, folded.kind), fold, isParked);
  return {
    ...pastState,
    row: pastState.row && { ...pastState.row, ...derivedIn(fold.items) },
    items: pastState.row ? rowsIn(fold.items) : new Map(),
    departedAt,
  };
};

const CUT: PastState = {
  state: 'parked',
  row: undefined,
  items: new Map(),
  changedAt: undefined,
  departedAt: undefined,
};

const orCut = (error: unknown): StreamCut => {
  if (error instanceof StreamCut) return error;
  throw error;
};

/**
 * The same without derived columns. For a long stream it resumes from a snapshot, and saves some for later
 * requests.
 */
export const foldRow = async (options: FoldOptions, { kind, stream, upTo }: Folded) => {
  const { eventLog, exceptionsOf, onRead } = options;
  const table = demandTable(options.tables, kind);
  const exceptions = await exceptionsOf(stream);
  // Snapshots do not contain operators’ decisions about single events.
  const snapshots = exceptions === NO_EXCEPTIONS ? options.snapshots : undefined;
  const folding = { ...options, table, stream, exceptions, snapshots };
  let reached: Reached = { fold: noRow(table), version: NO_STREAM, isParked: false, persons: new Set() };
  let departedAt: Position | undefined;
  const steps = readingSteps();
  for (let isOver = false; !isOver; ) {
    const most = steps.next();
    let count = 0;
    for await (const page of eventLog.read(
      stream,
      (reached.version + 1) as Version,
      (reached.version + most) as Version,
    )) {
      await onRead(page);
      departedAt ??= departureIn(page);
      const then = page.filter(({ position }) => position <= upTo);
      reached = await foldEvents(folding, reached, then);
      count += page.length;
      isOver ||= then.length < page.length || reached.isParked;
    }
    if (count < most) return { ...reached, departedAt: departedAt ?? reached.fold.departedAt };
    const jumped = steps.count === 1 && !isOver ? await snapshotAfter(folding, reached, upTo) : undefined;
    if (jumped) steps.jump();
    reached = jumped ?? reached;
  }
  // Only of users does it matter whether they are deleted by now.
  departedAt ??=
    reached.fold.departedAt ?? (kind === 'user' ? await departureAfter(folding, reached) : undefined);
  return { ...reached, departedAt };
};

type Folding = Omit<FoldOptions, 'snapshots'> & {
  readonly table: ProjectedTable;
  readonly stream: StreamName;
  readonly exceptions: Exceptions;
  readonly snapshots: Snapshots | undefined;
};

const foldEvents = async (
  { table, stream, codec, exceptions, snapshots }: Folding,
  reached: Reached,
  events: readonly RecordedEvent[],
): Promise<Reached> => {
  if (reached.isParked) return reached;
  const persons = await personsAfter(snapshots, reached.persons, events);
  const decoded = await decodeEach(codec, events);
  const passed: Snapshot[] = [];
  let { fold, version } = reached;
  for (const [index, event] of events.entries()) {
    const whole = decoded[index];
    const isSkipped = exceptions.skipped.has(event.version);
    if (event.position >= exceptions.parkedSince || (whole === undefined && !isSkipped))
      return { fold, version, persons, isParked: true };
    if (whole && !isSkipped) fold = rowAfter(table, fold, whole);
    else
      fold = {
        ...fold,
        change: after(fold.change, onlyVersion(event)),
        changedAt: whole?.metadata.at ?? fold.changedAt,
      };
    ({ version } = event);
    if (persons !== undefined && version % SNAPSHOT_EVERY_EVENTS === 0) {
      const { position, id } = event;
      passed.push({
        ...rowFoldOf(table),
        stream,
        version,
        position,
        event: id,
        persons: [...persons],
        state: storedRow(fold),
      });
    }
  }
  await snapshots?.save(passed);
  return { fold, version, persons, isParked: false };
};

const snapshotAfter = async (
  { snapshots, table, stream, eventLog }: Folding,
  reached: Pick<Reached, 'version'>,
  upTo?: Position,
): Promise<Reached | undefined> => {
  const found = await snapshots?.find(stream, rowFoldOf(table), upTo);
  if (found === undefined || found.version <= reached.version) return undefined;
  if (!(await isInLog(eventLog, found))) {
    await snapshots?.discard(stream, rowFoldOf(table));
    return undefined;
  }
  const { version, persons, state } = found;
  return { fold: rowStored(table, state), version, persons: new Set(persons), isParked: false };
};

const departureIn = (events: readonly RecordedEvent[]): Position | undefined =>
  events.find(({ type }) => type === 'user.deleted')?.position;

const departureAfter = async (folding: Folding, reached: Reached): Promise<Position | undefined> => {
  const latest = (await snapshotAfter(folding, reached)) ?? reached;
  if (latest.fold.departedAt !== undefined) return latest.fold.departedAt;
  for await (const page of folding.eventLog.read(folding.stream, (latest.version + 1) as Version)) {
    await folding.onRead(page);
    const departedAt = departureIn(page);
    if (departedAt !== undefined) return departedAt;
  }
  return undefined;
};

const present = (ofOne: ReadonlyMap<unknown, Change>): readonly Row[] =>
  [...ofOne.values()].flatMap((change) => (change.kind === 'put' ? [change.row] : []));

const derivedIn = (items: RowFold['items']): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...items].flatMap(([{ derived }, ofOne]) =>
      derived.map(({ column, of }) => [column, of(present(ofOne))]),
    ),
  );

const rowsIn = (items: RowFold['items']): PastState['items'] =>
  new Map([...items].map(([table, ofOne]) => [table.name, present(ofOne).map((row) => rowOf(table, row))]));

/** A skipped event still counts as a version. */
const onlyVersion = ({ stream, version }: RecordedEvent): Change<string> => ({
  kind: 'patch',
  row: { id: idIn(stream), version },
});

const pastStateOf = (
  table: ProjectedTable,
  { change, changedAt }: RowFold,
  isParked: boolean,
): Omit<PastState, 'departedAt' | 'items'> => {
  if (isParked) return { state: 'parked', row: undefined, changedAt };
  if (change?.kind === 'put') return { state: 'present', row: rowOf(table, change.row), changedAt };
  return { state: change ? 'gone' : 'absent', row: undefined, changedAt };
};
