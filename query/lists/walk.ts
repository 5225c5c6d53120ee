import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import type { Parameters } from '../rows/statement.ts';

/** The column of the order. Equal values are ordered by id, so that positions are unique. */
export type Order<Column extends string = string> = { readonly column: Column; readonly descending: boolean };

/** A position between rows: right before or after a row, valid also when that row is gone. */
export type Gap = { readonly atMs: number; readonly id: number; readonly side: 'before' | 'after' };

/** A page to read: from the beginning, or on either side of a gap. */
export type Walk<Column extends string = string> = {
  readonly order: Order<Column>;
  readonly limit: number;
  readonly from?: { readonly gap: Gap; readonly direction: 'after' | 'before' } | undefined;
};

/**
 * The rows of a page in the list's order, and the gaps at which adjacent pages begin, if there may be any.
 */
export type Page<Row> = {
  readonly rows: readonly Row[];
  readonly next: Gap | undefined;
  readonly previous: Gap | undefined;
};

/** A position in an order, as statements compare it. */
export type RowPosition = { readonly at: string; readonly id: number };

/** The direction in which rows are read, and the exclusive bounds. */
export type Stretch = {
  readonly isDownward: boolean;
  /** Where the reading begins. */
  readonly beyond: RowPosition | undefined;
  readonly before?: RowPosition | undefined;
};

const stretchOf = ({ order: { descending }, from }: Walk): Stretch => {
  const isDownward = descending !== (from?.direction === 'before');
  const beyond = from && {
    at: new Date(from.gap.atMs).toISOString(),
    id: idBeyond(from.gap, { descending, isDownward }),
  };
  return { isDownward, beyond };
};

/** The stretch of a page: its rows, nearest first, and one more that shows whether others follow. */
export const stretchOfPage = (walk: Walk) => ({ stretch: stretchOf(walk), rowsMax: walk.limit + 1 });

/** The conditions on the row t that it is within a stretch. */
export const withinSql = (
  column: string,
  { isDownward, beyond, before }: Stretch,
  parameters: Parameters,
): readonly string[] => {
  const compared = (position: RowPosition | undefined, comparison: '<' | '>'): readonly string[] =>
    position === undefined
      ? []
      : [
          `(t.${column}, t.id) ${comparison} (${parameters.add(position.at)}::timestamptz, ${parameters.add(position.id)}::bigint)`,
        ];
  return [...compared(beyond, isDownward ? '<' : '>'), ...compared(before, isDownward ? '>' : '<')];
};

/** The order of a stretch; `row` may be a prefix that names the row. */
export const orderSql = (column: string, { isDownward }: Pick<Stretch, 'isDownward'>, row = ''): string => {
  const direction = isDownward ? 'desc' : 'asc';
  return `order by ${row}${column} ${direction}, ${row}id ${direction}`;
};

/**
 * The first page of the default length is the most frequent: its limit is a literal, so that its plan is made
 * once. After a cursor, a generic plan is better without a known limit, because the number of rows there is a
 * guess.
 */
export const limitSql = (
  { stretch, rowsMax }: { readonly stretch: Stretch; readonly rowsMax: number },
  parameters: Parameters,
): string =>
  rowsMax === LIMIT_DEFAULT + 1 && stretch.beyond === undefined
    ? String(rowsMax)
    : `${parameters.add(rowsMax)}::bigint`;

/**
 * Ids are integers, so that “from this row on” is “beyond the adjacent id”. One statement serves both sides
 * of a row.
 */
const idBeyond = (
  { id, side }: Gap,
  { descending, isDownward }: { descending: boolean; isDownward: boolean },
): number => {
  const isRowAhead = (side === 'before') === (descending === isDownward);
  if (!isRowAhead) return id;
  return isDownward ? id + 1 : id - 1;
};

/** Makes a page of the rows that were read for it, nearest first. */
export const pageOf = <Row extends { readonly id: number }>(
  { order, limit, from }: Walk,
  read: readonly Row[],
  keyOf: (row: Row, column: string) => Date,
): Page<Row> => {
  const isBackward = from?.direction === 'before';
  const hasMore = read.length > limit;
  const nearest = read.slice(0, limit);
  const rows = isBackward ? nearest.toReversed() : nearest;
  const gapBeside = (row: Row | undefined, side: Gap['side']): Gap | undefined =>
    row === undefined ? from?.gap : { atMs: keyOf(row, order.column).getTime(), id: row.id, side };
  const next = gapBeside(rows.at(-1), 'after');
  const previous = gapBeside(rows[0], 'before');
  // On the side that the client came from, there was a page when it came.
  return {
    rows,
    next: isBackward || hasMore ? next : undefined,
    previous: isBackward ? (hasMore ? previous : undefined) : from && previous,
  };
};
