import type { Position, StreamName } from '#shared/brands.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import { type Change, combine } from '#shared/read-model/change.ts';
import { demandTable, type ProjectedItems, type ProjectedTable, type Tables } from '#shared/read-model/tables.ts';
import { type Kind, rowOf } from './aggregates.ts';
import { decodeEach } from './decode-each.ts';
import type { Exceptions, FindExceptions } from './exceptions.ts';

type Row = Readonly<Record<string, unknown>>;

/** How something stood at a position. */
export type Standing = {
  /** `parked` is what an event had taken out of the read model that cannot be taken in. */
  readonly state: 'absent' | 'present' | 'gone' | 'parked';
  /** As the read model had it; nothing of what was not there. */
  readonly row: Row | undefined;
  /** The items of its lists as the read model had them, by the tables of the lists, in no order. */
  readonly items: ReadonlyMap<string, readonly Row[]>;
  /** When it had last changed. */
  readonly changedAt: string | undefined;
  /** Where in its stream a user was deleted, also when that was later. */
  readonly departedAt: Position | undefined;
};

export type FoldOptions = {
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly codec: Pick<Codec, 'decodeAll'>;
  readonly tables: Tables;
  readonly exceptionsOf: FindExceptions;
  /** Told what was read; may refuse to have more read. */
  onRead(events: readonly RecordedEvent[]): Promise<void>;
};

export type Folded = { readonly kind: Kind; readonly stream: StreamName; readonly upTo: Position };

/** Reads a stream up to a position, page by page, and makes of it the row that the projector made. */
export const foldStream = async (options: FoldOptions, { kind, stream, upTo }: Folded): Promise<Standing> => {
  const { eventLog, codec, exceptionsOf, onRead } = options;
  const table = demandTable(options.tables, kind);
  const exceptions = await exceptionsOf(stream);
  let fold: Fold = { change: undefined, isParked: false, changedAt: undefined };
  const items = noItems(table);
  let departedAt: Position | undefined;
  for await (const page of eventLog.read(stream)) {
    await onRead(page);
    departedAt ??= page.find(({ type }) => type === 'user.deleted')?.position;
    const then = page.filter(({ position }) => position <= upTo);
    fold = takeIn({ table, items, fold, exceptions }, await decodeEach(codec, then), then);
    // Whether they are gone by now matters of users alone.
    if (then.length < page.length && kind !== 'user') break;
  }
  const standing = standingOf(table, fold);
  return {
    ...standing,
    row: standing.row && { ...standing.row, ...derivedIn(items) },
    items: standing.row ? rowsIn(items) : new Map(),
    departedAt,
  };
};

type Items = ReadonlyMap<ProjectedItems, Map<unknown, Change>>;

const noItems = ({ items }: ProjectedTable): Items => new Map(items.map((each) => [each, new Map()]));

const takeItem = (items: Items, event: DecodedEvent): void => {
  for (const [table, ofOne] of items) {
    const change = table.changes(event);
    if (change === undefined) continue;
    if (change.kind === 'clear') {
      ofOne.clear();
      continue;
    }
    const id = change.row[table.key[1] as 'id'];
    const before = ofOne.get(id);
    if (before !== undefined) ofOne.set(id, combine(before, change));
    else if (change.kind === 'put') ofOne.set(id, change);
  }
};

const present = (ofOne: ReadonlyMap<unknown, Change>): readonly Row[] =>
  [...ofOne.values()].flatMap((change) => (change.kind === 'put' ? [change.row] : []));

const derivedIn = (items: Items): Readonly<Record<string, number>> =>
  Object.fromEntries([...items].flatMap(([{ derived }, ofOne]) => derived.map(({ column, of }) => [column, of(present(ofOne))])));

const rowsIn = (items: Items): Standing['items'] =>
  new Map([...items].map(([table, ofOne]) => [table.name, present(ofOne).map((row) => rowOf(table, row))]));

type Fold = { readonly change: Change<string> | undefined; readonly isParked: boolean; readonly changedAt: string | undefined };
type Before = { readonly table: ProjectedTable; readonly items: Items; readonly fold: Fold; readonly exceptions: Exceptions };

const takeIn = (
  { table, items, fold, exceptions }: Before,
  decoded: readonly (DecodedEvent | undefined)[],
  recorded: readonly RecordedEvent[],
): Fold => {
  let { change, isParked, changedAt } = fold;
  for (const [index, event] of recorded.entries()) {
    const whole = decoded[index];
    const isSkipped = exceptions.skipped.has(event.version);
    isParked ||= event.position >= exceptions.parkedSince || (whole === undefined && !isSkipped);
    if (isParked) break;
    change = after(change, isSkipped || !whole ? onlyVersion(event) : table.project(whole));
    if (whole && !isSkipped) takeItem(items, whole);
    changedAt = whole?.metadata.at ?? changedAt;
  }
  return { change, isParked, changedAt };
};

/** An event that is left out counts as a version all the same. */
const onlyVersion = ({ stream, version }: RecordedEvent): Change<string> => ({
  kind: 'patch',
  row: { id: Number(stream.slice(stream.indexOf('-') + 1)), version },
});

/** What there is none of yet cannot be changed. */
const after = (before: Change<string> | undefined, change: Change<string>): Change<string> | undefined => {
  if (before) return combine(before, change);
  return change.kind === 'patch' ? undefined : change;
};

const standingOf = (table: ProjectedTable, { change, isParked, changedAt }: Fold): Omit<Standing, 'departedAt' | 'items'> => {
  if (isParked) return { state: 'parked', row: undefined, changedAt };
  if (change?.kind === 'put') return { state: 'present', row: rowOf(table, change.row), changedAt };
  return { state: change ? 'gone' : 'absent', row: undefined, changedAt };
};
