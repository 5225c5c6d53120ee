import { streamName } from '#kernel/base/events/streams.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { coalesce, createPace } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { refuseParked } from '../rows/parked.ts';
import type { Source } from '../rows/source.ts';
import { presentSql } from '../rows/sources.ts';
import { createFinder, runPrepared } from '../rows/statement.ts';
import type { ItemRow } from './rows.ts';
import { joinedAs, type Selection, selectionAlone, selectionOfItem } from './selection.ts';

/**
 * Finds an item by its id. An undefined id, an absent item, and one that is not `isSeen` are all refused as
 * absent.
 */
export type FindItem = (id: number | undefined, isSeen: (row: ItemRow) => boolean) => Promise<ItemRow>;

export const createItemFinder = (pool: Pool, source: Source): FindItem => {
  const { kind, table, owner, parent } = source;
  const { columns, joins } = selectionOfItem(source);
  const findRows = createFinder<ItemRow>(
    (condition) =>
      `select ${columns} from ${table} t${joins} where ${[condition, ...presentSql(source)].join(' and ')}`,
  );
  const find = coalesce<number, ItemRow>((ids) => findRows(pool, ids), { pace: createPace() });
  const isParked = (
    { target, column }: { readonly target: typeof kind | undefined; readonly column: string },
    row: ItemRow,
  ) => target && refuseParked(pool, streamName(target.name, row[column] as number));
  return async (id, isSeen) => {
    const row = id === undefined ? undefined : await find(id);
    if (id !== undefined && row === undefined) await refuseParked(pool, streamName(kind.name, id));
    // A row without its parent is about to be deleted with it.
    const isPlaced = row !== undefined && (!parent || row[joinedAs([parent.name], 'id')] !== null);
    if (row !== undefined && !isPlaced && parent) await isParked(parent, row);
    if (row === undefined || !isPlaced || !isSeen(row)) throw new Rejection(notFound(kind.name));
    if (owner && row[joinedAs([owner.name], 'id')] === null) await isParked(owner, row);
    return row;
  };
};

/** The rows of a kind by themselves, for readers that find references and long texts by themselves. */
type RowsAlone = {
  readonly selection: Selection;
  /** Includes rows that are only a name for others. */
  find(pool: Pool, ids: readonly number[]): Promise<ReadonlyMap<number, ItemRow>>;
};

export const rowsAlone = oncePer((domain: Domain) =>
  oncePer((source: Source): RowsAlone => {
    const selection = selectionAlone(domain, source);
    const find = createFinder<ItemRow>(
      (condition) => `select ${selection.columns} from ${source.table} t where ${condition}`,
    );
    return { selection, find };
  }),
);

/** Replaces texts that are too long in total. */
export const TOO_LONG = Symbol('too long');

type AskedTexts = {
  readonly column: string;
  readonly ids: readonly number[];
  /** The limit of all texts together. */
  readonly bytesMax: number;
};

export const findTexts = async (
  pool: Pool,
  { table }: Source,
  { column, ids, bytesMax }: AskedTexts,
): Promise<ReadonlyMap<number, string | null | typeof TOO_LONG>> => {
  const text = `select id, case when sum(octet_length(${column})) over () <= $2::bigint then ${column} end as text,
    ${column} is not null as "isThere" from ${table} where id = any($1::bigint[])`;
  const rows = await runPrepared<{
    readonly id: number;
    readonly text: string | null;
    readonly isThere: boolean;
  }>(pool, text, [ids, bytesMax]);
  return new Map(rows.map((row) => [row.id, row.isThere ? (row.text ?? TOO_LONG) : null]));
};
