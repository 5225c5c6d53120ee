import { streamName } from '#kernel/base/events/streams.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { coalesce, createPace } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { refuseParked } from '../rows/parked.ts';
import type { Source } from '../rows/source.ts';
import { presentSql } from '../rows/sources.ts';
import { createFinder } from '../rows/statement.ts';
import type { ItemRow } from './rows.ts';
import { joinedAs, selectionOfItem } from './selection.ts';

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
