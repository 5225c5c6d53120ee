import { LRUCache } from 'lru-cache';
import { parked } from '#edge/http/parked.ts';
import type { LogIdentity, Position, StreamName } from '#kernel/base/brands.ts';
import type { Cursor } from '#kernel/base/cursor.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { targetOf } from '#kernel/base/names.ts';
import { askedColumn, askedItems, askedListsOf } from '#kernel/conditions/lists.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Table } from '#kernel/rows/change.ts';
import { cursorOf } from '#shared/event-log/own-cursor.ts';
import { demandTable, type ProjectedTable, type Tables } from '#shared/read-model/tables.ts';
import { createPresentRights, type IsReadable } from '#shared/visibility/present-rights.ts';
import { type Charge, createMeter } from '../rest/meter.ts';
import { runPrepared } from '../rows/statement.ts';
import type { Kind } from './aggregates.ts';
import { createExceptionsFinder } from './exceptions.ts';
import { type FoldOptions, foldStream, type PastState } from './fold-stream.ts';
import { findMoved, type Moved } from './moved.ts';
import type { PastOptions } from './options.ts';

/** Aggregates as the read model had them at one position, computed from their streams. For one request. */
export type Past = {
  readonly position: Position;
  readonly cursor: Cursor;
  readonly identity: LogIdentity;
  /** The state of an aggregate at that time. It omits personal data of users who are deleted by now. */
  find(kind: Kind, id: number): Promise<PastState>;
  /** Its row; undefined if it was not present. Throws if it was parked. */
  row<Row>(kind: Kind, id: number): Promise<(Row & { readonly id: number }) | undefined>;
  /** Current rights: what the caller may no longer read is not shown of the past either. */
  readonly isReadable: IsReadable;
  readonly representManaged: PastOptions['representManaged'];
  /** The aggregates of a kind that moved below another parent since; undefined if none can. */
  moved(kind: Kind): Promise<Moved | undefined>;
  /** True if one answer has read so much that it should end. */
  isExhausted(): boolean;
};

/** After reading this many events, a page of a list ends, however short it is. */
const EVENTS_MAX = 20_000;
/** The cache of users: the owners of listed aggregates. */
const USERS_KEPT_MAX = 1_000;
/**
 * The cache of other targets of references, and of aggregates with lists: small, because their texts may be
 * long.
 */
const OTHERS_KEPT_MAX = 16;

/** Its cursor names the event at the position, so that it can be checked when a client sends it back. */
export type OpenPast = (position: Position, charge: Charge) => Promise<Past>;

export const createPastOpener = ({
  domain,
  eventLog,
  codec,
  tables,
  snapshots,
  pool,
  representManaged,
}: PastOptions): OpenPast => {
  const exceptionsOf = createExceptionsFinder(pool);
  const isReadable = createPresentRights({ domain, run: (text, values) => runPrepared(pool, text, values) });
  return async (position, charge) => {
    const event = eventLog.remembered?.(position) ?? (await eventLog.eventAt(position));
    const cursor = cursorOf(eventLog, position, event);
    return openPast(
      { domain, eventLog, codec, tables, snapshots, pool, exceptionsOf, isReadable },
      { position, charge, cursor, identity: eventLog.identity, representManaged },
    );
  };
};

type Opened = Pick<Past, 'position' | 'cursor' | 'identity' | 'representManaged'> & {
  readonly charge: Charge;
};

const openPast = (
  options: Omit<FoldOptions, 'onRead'> &
    Pick<PastOptions, 'domain' | 'eventLog' | 'pool'> & { readonly isReadable: IsReadable },
  { position, charge, cursor, identity, representManaged }: Opened,
): Past => {
  const meter = createMeter(charge);
  const { read, onRead } = meter;
  const { domain, tables, isReadable } = options;
  const fold = (kind: Kind, stream: StreamName) =>
    foldStream({ ...options, onRead }, { kind, stream, upTo: position });
  const findUser = keepFound(USERS_KEPT_MAX, (id) =>
    fold('user', streamName('user', id)).then((pastState) => withoutDeparted(tables, pastState)),
  );
  const finders = new Map(
    [...readTwiceIn(domain)].map((kind) => [
      kind,
      keepFound(OTHERS_KEPT_MAX, (id) => fold(kind, streamName(kind, id))),
    ]),
  );
  const askedOf = askedIn(domain);
  const find: Past['find'] = async (kind, id) => {
    const pastState = await findWhole(kind, id);
    return pastState.row === undefined
      ? pastState
      : { ...pastState, row: { ...pastState.row, ...askedOf(kind, pastState.items) } };
  };
  const findWhole: Past['find'] = async (kind, id) => {
    if (kind === 'user') return findUser(id);
    const pastState = await (finders.get(kind)?.(id) ?? fold(kind, streamName(kind, id)));
    const { row } = pastState;
    if (row === undefined) return pastState;
    const table = demandTable(tables, kind);
    const isGone = async ({ person }: Pick<Table, 'person'>): Promise<boolean> =>
      person !== null && (await findUser(Number(row[person]))).departedAt !== undefined;
    const items = await withoutPersonalItems(pastState.items, table, isGone);
    if (!(await isGone(table))) return { ...pastState, items };
    return table.afterDeparture === 'emptied'
      ? { ...pastState, row: { ...row, ...withoutPersonal(table) }, items }
      : { ...pastState, state: 'gone', row: undefined };
  };
  return {
    position,
    identity,
    cursor,
    find,
    isReadable,
    async row<Row>(kind: Kind, id: number) {
      const { state, row, cut } = await find(kind, id);
      if (state === 'parked') throw parked(cut);
      // The fold sets exactly the columns of the read model.
      return row as (Row & { readonly id: number }) | undefined;
    },
    async moved(kind) {
      const of = domain.kinds[kind];
      return of && findMoved({ ...options, meter }, of, position);
    },
    isExhausted: () => read() >= EVENTS_MAX,
    representManaged,
  };
};

/** The items that rights ask about, by the names of fields in rows. */
const askedIn =
  (domain: Domain) =>
  (kind: Kind, items: PastState['items']): Readonly<Record<string, unknown>> => {
    const of = domain.kinds[kind];
    const lists = of === undefined ? [] : askedListsOf(domain, of);
    return Object.fromEntries(
      lists.map((asked) => [askedColumn(asked), askedItems(asked, items.get(asked.list.table) ?? [])]),
    );
  };

/** Kinds that references point to, or that have lists. */
const readTwiceIn = ({ kinds }: Domain): ReadonlySet<string> =>
  new Set(
    Object.values(kinds).flatMap(({ name, fields, lists }) => [
      ...(Object.keys(lists).length > 0 ? [name] : []),
      ...[fields, ...Object.values(lists).map((list) => ({ ...list.fields, '': list.id.def }))].flatMap(
        (defs) => Object.values(defs).flatMap((def) => (def.kind === 'ref' ? [targetOf(def)] : [])),
      ),
    ]),
  );

type FindById = (id: number) => Promise<PastState>;

/** Caches the latest results. */
const keepFound = (max: number, find: FindById): FindById => {
  const kept = new LRUCache<number, Promise<PastState>>({ max });
  return (id) => {
    const found = kept.get(id) ?? find(id);
    kept.set(id, found);
    return found;
  };
};

const withoutPersonal = ({ personal }: Table): Readonly<Record<string, null>> =>
  Object.fromEntries(personal.map((column) => [column, null]));

/** Personal data in items belongs to the person that their aggregate names; both tables have that column. */
const withoutPersonalItems = async (
  items: PastState['items'],
  { items: tables }: ProjectedTable,
  isGone: (table: Pick<Table, 'person'>) => Promise<boolean>,
): Promise<PastState['items']> => {
  const emptied = await Promise.all(
    tables.map(async (table) => {
      const rows = items.get(table.name) ?? [];
      return [
        table.name,
        (await isGone(table)) ? rows.map((row) => ({ ...row, ...withoutPersonal(table) })) : rows,
      ] as const;
    }),
  );
  return new Map(emptied);
};

const withoutDeparted = (tables: Tables, pastState: PastState): PastState =>
  pastState.row === undefined || pastState.departedAt === undefined
    ? pastState
    : { ...pastState, row: { ...pastState.row, ...withoutPersonal(demandTable(tables, 'user')) } };
