import type { Position } from '#kernel/base/brands.ts';
import { asksOthers } from '#kernel/rows/view-readers.ts';
import { CHANGED } from '#kernel/rows/view-table.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { START } from '#shared/event-log/event-log.ts';
import { type Caller, reachOf, userIdOf } from '#shared/policy.ts';
import type { Joins } from '../lists/item-rows.ts';
import { readableRows } from '../rows/rights.ts';
import type { Row } from '../rows/sources.ts';
import { Parameters, runPrepared, runShared } from '../rows/statement.ts';
import { rowPositionOf } from './rows.ts';
import type { ViewSource } from './source.ts';

/** The position of a view, and the positions from which its streams can resume. */
export type ViewState = {
  readonly upTo: Position;
  /** Changes with a rebuild: then rows may differ though nothing has happened. */
  readonly generation: string;
  /** The position at which this generation began. */
  readonly since: Position;
  readonly forgotten: Position;
};

/**
 * A page of changes, and the state in the same snapshot of the database; undefined before the projector has
 * begun.
 */
export type ChangedPage = {
  readonly state: ViewState | undefined;
  /** The last position at which this caller’s rights changed without a change of rows. */
  readonly rightsChanged: Position;
  readonly changes: readonly { readonly row: Row; readonly isThere: boolean; readonly position: Position }[];
  /** Where the next page begins; undefined if there is none now. */
  readonly next: readonly string[] | undefined;
};

export type WhoseRows = {
  readonly source: ViewSource;
  readonly caller: Caller;
  /** Only rows with these values, by column. */
  readonly equal: Readonly<Record<string, unknown>>;
  readonly joined: Joins;
};

const PAGE_ROWS = 200;

const STATE = `c.position as "@upTo", s.generation as "@generation", s.since as "@since", s.forgotten as "@forgotten"`;
const AND_STATE = `from public.follower_checkpoint c cross join ${LIVE_SCHEMA}.view_stream s where c.follower = '${PROJECTOR}'`;

/** All current rows, by key. */
export const readAllRows = (
  pool: Pool,
  whose: WhoseRows,
  after: readonly string[] | undefined,
): Promise<ChangedPage> => {
  const { source } = whose;
  const parameters = new Parameters();
  const beyond = after === undefined ? [] : [isBeyond(source.keys, after, parameters)];
  return readPage(pool, whose, {
    order: source.keys,
    parameters,
    from: presentIn(whose, beyond, parameters),
  });
};

/** Rows changed or removed after a position, the earliest change first. */
export const readChangedRows = (
  pool: Pool,
  whose: WhoseRows,
  { position, after }: { readonly position: Position; readonly after: readonly string[] | undefined },
): Promise<ChangedPage> => {
  const { source } = whose;
  const { table, keys, view } = source;
  const order = [{ name: CHANGED, type: 'bigint' }, ...keys];
  const parameters = new Parameters();
  const from = parameters.add(position);
  const beyond = [
    `t.${CHANGED} > ${from}::bigint`,
    ...(after === undefined ? [] : [isBeyond(order, after, parameters)]),
  ];
  const isSame = keys.map(({ name }) => `n.${name} = t.${name}`).join(' and ');
  const conditions = [
    ...narrowing(whose, parameters),
    ...beyond,
    `not exists (select from ${table} n where ${isSame})`,
  ];
  const gone = `select t.*, false as "@isThere" from ${LIVE_SCHEMA}.view_removed r
    cross join lateral jsonb_populate_record(null::${table}, r.key || jsonb_build_object('${CHANGED}', r.position)) t
    where r.view = '${view.table}' and r.position > ${from}::bigint and ${conditions.join(' and ')}`;
  return readPage(pool, whose, {
    order,
    parameters,
    from: `${presentIn(whose, beyond, parameters)} union all ${gone}`,
  });
};

type Ordered = readonly { readonly name: string; readonly type: string }[];

const isBeyond = (order: Ordered, position: readonly string[], parameters: Parameters): string =>
  `(${order.map(({ name }) => `t.${name}`).join(', ')}) > (${order.map(({ type }, at) => `${parameters.add(position[at])}::${type}`).join(', ')})`;

const narrowing = ({ source, caller, equal }: WhoseRows, parameters: Parameters): readonly string[] => [
  ...readableRows(caller, { kind: source.view.asked, right: source.right, parent: undefined }, parameters),
  ...Object.entries(equal).map(([name, value]) => `t.${name} = ${parameters.add(value)}`),
];

const presentIn = (whose: WhoseRows, beyond: readonly string[], parameters: Parameters): string =>
  `select t.*, true as "@isThere" from ${whose.source.table} t where ${['true', ...beyond, ...narrowing(whose, parameters)].join(' and ')}`;

type Asked = { readonly order: Ordered; readonly from: string; readonly parameters: Parameters };
type StateColumns = Readonly<Record<'@upTo' | '@since' | '@forgotten', Position>> & {
  readonly '@generation': string;
};
type Found = Row &
  StateColumns & { readonly '@isThere': boolean | null; readonly '@rightsChanged': Position };

/** One statement, so that the rows and the position belong to one snapshot of the database. */
const readPage = async (
  pool: Pool,
  { source, caller, joined }: WhoseRows,
  { order, from, parameters }: Asked,
): Promise<ChangedPage> => {
  const places = order.map(({ name }, index) => `u.${name}::text as place_${index}`).join(', ');
  const by = (row: string): string => order.map(({ name }) => `${row}.${name}`).join(', ');
  const page = `select u.*, ${places} from (${from}) u order by ${by('u')} limit ${PAGE_ROWS}`;
  const text = `select f.*, i.*${joined.columns} from (
      select ${STATE}, ${rightsChangedFor(source, caller, parameters)} as "@rightsChanged" ${AND_STATE} and s.view = '${source.view.table}') f
    left join lateral (${page}) i on true${joined.joins} order by ${by('i')}`;
  const rows = await runShared<Found>(pool, text, parameters.values);
  const changes = rows.flatMap((row) => {
    const isThere = row['@isThere'];
    return isThere === null ? [] : [{ row, isThere, position: row[CHANGED] as Position }];
  });
  const last = changes.length === PAGE_ROWS ? rows.at(-1) : undefined;
  const [first] = rows;
  return {
    state: first && stateIn(first),
    rightsChanged: first?.['@rightsChanged'] ?? START,
    changes,
    next: last && rowPositionOf(last, order),
  };
};

/** Rights that depend only on the key never change. */
const rightsChangedFor = ({ view, right }: ViewSource, caller: Caller, parameters: Parameters): string =>
  [...reachOf(caller, right)].some(asksOthers)
    ? `coalesce((select max(r.position) from ${LIVE_SCHEMA}.view_readers r
        where r.view = '${view.table}' and r.user_id in (0, ${parameters.add(userIdOf(caller))}::bigint)), 0)`
    : '0';

const stateIn = (row: StateColumns): ViewState => ({
  upTo: row['@upTo'],
  generation: row['@generation'],
  since: row['@since'],
  forgotten: row['@forgotten'],
});

/** By table, with the position of the last change of rows or rights. */
export type ViewStates = ReadonlyMap<string, ViewState & { readonly lastChange: Position }>;

const MARKS = ['view_removed', 'view_readers'];

/** The positions of all views, for all subscribers at once: each a look at the end of an index. */
export const readViewStates = async (pool: Pool, sources: readonly ViewSource[]): Promise<ViewStates> => {
  const changes = sources
    .map(({ view, table }) => `when '${view.table}' then (select max(${CHANGED}) from ${table})`)
    .join(' ');
  const text = `select s.view as "@view", ${STATE}, greatest(0, case s.view ${changes} end,
 ${MARKS.map((table) => `(select max(r.position) from ${LIVE_SCHEMA}.${table} r where r.view = s.view)`).join(', ')}) as "@lastChange" ${AND_STATE}`;
  const rows = await runPrepared<
    StateColumns & { readonly '@view': string; readonly '@lastChange': Position }
  >(pool, text, []);
  return new Map(rows.map((row) => [row['@view'], { ...stateIn(row), lastChange: row['@lastChange'] }]));
};
