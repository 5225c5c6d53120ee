import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { booleanJson, concatenated, objectJson, orNull, type Piece, type Pieces } from './json.ts';
import { countOf, firstOf, ordering, orderOf, type Rows } from './lists.ts';
import type { Order, Row } from './mapping.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { type Collect, type Selected, selectionSetsOf } from './selections.ts';
import { joined, Sql, sql } from './sql.ts';
import { pageSize } from './values.ts';

/** A selected connection, and how its items are written. */
type Connection = {
  readonly rows: Rows;
  readonly type: GraphQLObjectType;
  readonly selected: Selected;
  readonly collect: Collect;
  nodeJson(row: Row, selected: Selected): readonly Piece[];
};

/**
 * A connection (GraphQL Cursor Connections Specification). It reads one row more than the page has, nearest
 * first, to know whether others follow. On the side that the client came from, there was a row when the
 * cursor was made.
 */
export const connectionJson = (connection: Connection): Sql => {
  const { rows, type, selected, collect } = connection;
  if (rows.args.has('first') && rows.args.has('last')) throw new OutOfPlan('first together with last');
  const page = pageOf(rows);
  const collected = collect(type, selectionSetsOf(selected));
  const members = collected.map((member) => [member.key, memberJson(connection, page, member)] as const);
  const asked = collected.map(({ name }) => name);
  // Without rows and without their number, nothing else would check whether the caller may filter and order.
  const isOfRows = asked.some((name) => READING.has(name)) || !asked.includes('totalCount');
  return sql`(select ${concatenated(objectJson(members))} ${isOfRows ? page.from : sql``})`;
};

const READING = new Set(['edges', 'nodes', 'pageInfo']);

type Page = {
  readonly row: Row;
  readonly order: Order;
  readonly size: Sql;
  readonly isBackward: boolean;
  /** The condition for rows of the page, which excludes the additional one. */
  readonly isWithin: Sql;
  readonly from: Sql;
};

const pageOf = (rows: Rows): Page => {
  const { args } = rows;
  const order = orderOf(rows);
  const isBackward = args.has('last');
  const nearestFirst = { ...order, descending: order.descending !== isBackward };
  const row = rows.newRow();
  const size = args.value('bigint', ({ first, last }) => pageSize(first ?? last));
  const bounds = [...boundOf(rows, order, row, 'after'), ...boundOf(rows, order, row, 'before')];
  const read = sql`select ${row}.* ${firstOf(rows, row, { order: nearestFirst, limit: sql`${size} + 1`, within: bounds })}`;
  const numbered = sql`select ${row}.*, row_number() over (order by ${ordering(nearestFirst, row)}) as place from (${read}) ${row}`;
  const from = sql`from (${numbered} order by place ${isBackward ? sql`desc` : sql`asc`}) ${row} having true`;
  return { row, order, size, isBackward, isWithin: sql`${row}.place <= ${size}`, from };
};

/** Only rows beyond a cursor’s position, whether its row still exists or not. */
const boundOf = (
  { args }: Rows,
  { columns, descending, positionOf }: Order,
  row: Row,
  side: 'after' | 'before',
): readonly Sql[] => {
  if (!args.has(side)) return [];
  const place = columns.map(({ type }, index) =>
    args.value(type, (values) => positionOf(values[side])[index] ?? null),
  );
  const comparison = descending === (side === 'after') ? sql`<` : sql`>`;
  const there = columns.map(({ name }) => sql`${row}.${Sql.identifier(name)}`);
  return [sql`(${joined(there, sql`, `)}) ${comparison} (${joined(place, sql`, `)})`];
};

const memberJson = (connection: Connection, page: Page, member: Selected): Pieces => {
  const { rows, type, collect, nodeJson } = connection;
  const all = (json: readonly Piece[]): Pieces => [
    '[',
    sql`coalesce(string_agg(${concatenated(json)}, ',') filter (where ${page.isWithin}), '')`,
    ']',
  ];
  switch (member.name) {
    case '__typename':
      return `"${type.name}"`;
    case 'totalCount':
      return [rows.mapping.countMark ?? '', sql`(${countOf(rows)})::text`];
    case 'nodes':
      return all(nodeJson(page.row, member));
    case 'edges':
      return all(
        objectOf(type, member, collect, (name, edge) =>
          name === 'node' ? nodeJson(page.row, edge) : cursorJson(connection, page),
        ),
      );
    case 'pageInfo':
      return [
        rows.mapping.countMark ?? '',
        ...objectOf(type, member, collect, (name) => pageInfoJson(connection, page, name)),
      ];
    default:
      throw new OutOfPlan(`the field ${member.name} of a connection`);
  }
};

/** A cursor contains the id of its row. */
const cursorJson = ({ rows }: Connection, { row, order }: Page): Sql =>
  concatenated([...(rows.mapping.mark?.(row, ['id']) ?? []), order.cursorJson(row)]);

/** An object without rows of its own. */
const objectOf = (
  parent: GraphQLObjectType,
  selected: Selected,
  collect: Collect,
  json: (name: string, selected: Selected) => Pieces,
): readonly Piece[] => {
  const type = getNamedType(parent.getFields()[selected.name]?.type);
  if (!isObjectType(type)) throw new OutOfPlan(`the field ${selected.name} of a connection`);
  return objectJson(
    collect(type, selectionSetsOf(selected)).map((member) => [
      member.key,
      member.name === '__typename' ? `"${type.name}"` : json(member.name, member),
    ]),
  );
};

const pageInfoJson = (connection: Connection, page: Page, field: string): Pieces => {
  const { args } = connection.rows;
  const { size, isBackward, isWithin } = page;
  const cursors = sql`array_agg(${cursorJson(connection, page)}) filter (where ${isWithin})`;
  const hasMore = (side: 'after' | 'before', isAhead: boolean): Pieces =>
    args.has(side) ? 'true' : isAhead ? booleanJson(sql`count(*) > ${size}`) : 'false';
  switch (field) {
    case 'hasNextPage':
      return hasMore('before', !isBackward);
    case 'hasPreviousPage':
      return hasMore('after', isBackward);
    case 'startCursor':
      return orNull(sql`(${cursors})[1]`);
    case 'endCursor':
      return orNull(sql`(${cursors})[least(count(*), ${size})::integer]`);
    default:
      throw new OutOfPlan(`the field ${field} of PageInfo`);
  }
};
