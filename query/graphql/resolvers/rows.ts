// Over 200 lines, because it is one thing: how rows, lists of them and their counts become SQL.

import { oncePer } from '#kernel/base/once-per.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { askedColumn, askedItemsSql, askedListsOf } from '#kernel/conditions/lists.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Caller } from '#shared/policy.ts';
import { readableRows, rowsWith, stateMemberOf } from '../../rows/rights.ts';
import type { Filter, Sort, Source } from '../../rows/source.ts';
import { presentSql, sourcesOf } from '../../rows/sources.ts';
import { Parameters, runPrepared, runWithCustomPlan } from '../../rows/statement.ts';
import type { WebhookRow as Webhook } from '../../webhooks/representation.ts';
import { ANSWER_BYTES_MAX } from '../documents/limits.ts';

/** The rows that fields are resolved from, read for many parents by one statement. */

type Common = {
  /** The GraphQL type. */
  readonly __typename: string;
  readonly id: number;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};
export type Row = Common & Readonly<Record<string, unknown>>;
/** An item of a list. */
export type ItemRow = Readonly<Record<string, unknown>>;
export type WebhookRow = Common & Omit<Webhook, 'url'> & { readonly url: string | null };

/** The rows of one type: their table, and the filters and orders of their lists. */
export type Listing = {
  readonly type: string;
  /** The kind of the aggregate. */
  readonly kind: string;
  readonly source: Source;
  readonly table: string;
  /** Without long texts; with the items that rights ask about. */
  readonly columns: string;
  readonly right: Operation;
  readonly filters: readonly Pick<Filter, 'name' | 'column' | 'by' | 'def' | 'guard'>[];
  readonly sorts: readonly Sort[];
  readonly isNewestFirst: boolean;
};

type Listings = { readonly all: readonly Listing[]; of(type: string): Listing };

export const listingsOf = oncePer((domain: Domain): Listings => makeListings(domain));

const makeListings = (domain: Domain): Listings => {
  const { all: declared, managed } = sourcesOf(domain);
  const all = [...declared, ...managed].map((source) => listingOf(domain, source));
  const byType = new Map(all.map((listing) => [listing.type, listing]));
  return {
    all,
    of(type) {
      const listing = byType.get(type);
      if (!listing) throw new RangeError(`No rows are of the type ${type}`);
      return listing;
    },
  };
};

const COMMON = ['id', 'version', 'created_at', 'updated_at'];

const listingOf = (domain: Domain, source: Source): Listing => {
  const { kind, members, staysWhenEnded } = source;
  const columns = [...COMMON, ...members.filter((member) => !isLong(member)).map(({ column }) => column)];
  return {
    ...source,
    type: kind.type,
    kind: kind.name,
    source,
    columns: [
      ...[...columns, ...(staysWhenEnded ? ['deleted_at'] : [])].map((each) => `t.${each}`),
      ...askedListsOf(domain, kind).map(
        (list) => `${askedItemsSql(list, kind, { row: 't', schema: LIVE_SCHEMA })} as "${askedColumn(list)}"`,
      ),
    ].join(', '),
  };
};

const LONG_CHARACTERS = 10_000;

/** Long texts are loaded only for fields that ask for them. */
export const isLong = ({ def }: Pick<Source['members'][number], 'def'>): boolean =>
  def.kind === 'text' && ((def.recorded.meta()?.maxLength as number | undefined) ?? 0) > LONG_CHARACTERS;

const columnsWithType = ({ type, columns }: Listing): string => `'${type}' as "__typename", ${columns}`;

export const findRows = async (
  pool: Pool,
  listing: Listing,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Row>> => {
  const text = `select ${columnsWithType(listing)} from ${listing.table} t where t.id = any($1::bigint[])`;
  return new Map((await runPrepared<Row>(pool, text, [ids])).map((row) => [row.id, row]));
};

/** Replaces texts that are too long in total. */
export const TOO_LONG = Symbol('too long');

export const findTexts = async (
  pool: Pool,
  { table }: Listing,
  column: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string | null | typeof TOO_LONG>> => {
  const rows = await runPrepared<{
    readonly id: number;
    readonly text: string | null;
    readonly isThere: boolean;
  }>(
    pool,
    `select id, case when sum(octet_length(${column})) over () <= $2::bigint then ${column} end as text, ${column} is not null as "isThere" from ${table} where id = any($1::bigint[])`,
    [ids, ANSWER_BYTES_MAX],
  );
  return new Map(rows.map(({ id, text, isThere }) => [id, isThere ? (text ?? TOO_LONG) : null]));
};

/** The filter, order and page of a list. */
export type Asked = {
  /** By filter name. */
  readonly filter: RowFilter;
  readonly column: string;
  readonly descending: boolean;
  /** Exclusive bounds. */
  readonly after: RowPosition | undefined;
  readonly before: RowPosition | undefined;
  /** True reads from the end. */
  readonly isBackward: boolean;
  readonly rowsMax: number;
};

export type RowPosition = { readonly at: string; readonly id: number };
export type RowFilter = Readonly<Record<string, string | number | boolean>>;

/** Without a parent, all rows belong to the query itself, under the id 0. */
export const NO_PARENT = 0;

export type ListOf = {
  readonly type: string;
  /** The column with the id of the parent. */
  readonly parent: string | undefined;
  readonly asked: Asked;
};

type Reading = { readonly pool: Pool; readonly listing: Listing; readonly caller: Caller };

/** The rows of each parent, nearest first: from the end if `isBackward`. */
export const listRows = async (
  { pool, listing, caller }: Reading,
  { parent, asked }: ListOf,
  parents: readonly number[],
): Promise<ReadonlyMap<number, readonly Row[]>> => {
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const { column, descending, isBackward, rowsMax } = asked;
  const direction = descending !== isBackward ? 'desc' : 'asc';
  const from = fromWhere({ listing, parent, caller, parameters }, asked);
  const places = [
    placeCondition(asked, 'after', parameters),
    placeCondition(asked, 'before', parameters),
  ].join('');
  const text = `select p.id as parent, x.* from unnest(${ids}::bigint[]) as p (id) cross join lateral (
    select ${columnsWithType(listing)} ${from}${places} order by t.${column} ${direction}, t.id ${direction} limit ${parameters.add(rowsMax)}::bigint) x
    order by x.${column} ${direction}, x.id ${direction}`;
  const rows = await runWithCustomPlan<Row & { parent: number }>(pool, text, parameters.values);
  return Map.groupBy(rows, (row) => row.parent);
};

export const countRows = async (
  { pool, listing, caller }: Reading,
  { parent, asked }: ListOf,
  parents: readonly number[],
): Promise<ReadonlyMap<number, number>> => {
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const from = fromWhere({ listing, parent, caller, parameters }, asked);
  const text = `select p.id, (select count(*) ${from})::integer as count from unnest(${ids}::bigint[]) as p (id)`;
  const rows = await runWithCustomPlan<{ id: number; count: number }>(pool, text, parameters.values);
  return new Map(rows.map(({ id, count }) => [id, count]));
};

type From = {
  readonly listing: Listing;
  readonly parent: string | undefined;
  readonly caller: Caller;
  readonly parameters: Parameters;
};

/** Lists omit aggregates of a parked owner, who has no row. */
const fromWhere = ({ listing, parent, caller, parameters }: From, { filter, column }: Asked): string => {
  const belongs = parent === undefined ? [] : [`t.${parent} = p.id`];
  const { source } = listing;
  const conditions = [
    ...belongs,
    ...presentSql(source),
    ...readableRows(caller, source, parameters),
    ...filtered(listing, filter, parameters),
  ];
  const sort = listing.sorts.find((each) => each.column === column);
  const stateColumn = stateMemberOf(source)?.column;
  const ordered = [
    ...(sort?.state === undefined ? [] : [`t.${stateColumn} = '${sort.state}'`]),
    ...(sort?.isPartial ? [`t.${column} is not null`] : []),
  ];
  // A guarded value that the caller may not read counts as absent.
  const guards = [
    sort?.guard,
    ...listing.filters.map(({ name, guard }) => (filter[name] === undefined ? undefined : guard)),
  ];
  const seen = [...new Set(guards)].flatMap((guard) =>
    guard === undefined ? [] : rowsWith(caller, source, guard, parameters),
  );
  const owner = source.owner?.target ? ` join read_model.users u on u.id = t.${source.owner.column}` : '';
  return `from ${listing.table} t${owner} where ${[...conditions, ...ordered, ...seen, 'true'].join(' and ')}`;
};

const filtered = ({ filters }: Listing, filter: RowFilter, parameters: Parameters): readonly string[] =>
  filters.flatMap(({ name, column, by }) => {
    const value = filter[name];
    if (value === undefined) return [];
    return [CONDITIONS[by](`t.${column}`, parameters.add(value))];
  });

const CONDITIONS: Readonly<Record<Filter['by'], (column: string, given: string) => string>> = {
  value: (column, given) => `${column} = ${given}`,
  id: (column, given) => `${column} = ${given}::bigint`,
  element: (column, given) => `${column} @> array[${given}]`,
  words: (column, given) => `${column} @@ websearch_to_tsquery('simple', ${given})`,
};

const placeCondition = (
  { column, descending, ...places }: Asked,
  side: 'after' | 'before',
  parameters: Parameters,
): string => {
  const place = places[side];
  if (!place) return '';
  const comparison = descending === (side === 'after') ? '<' : '>';
  return ` and (t.${column}, t.id) ${comparison} (${parameters.add(place.at)}::timestamptz, ${parameters.add(place.id)}::bigint)`;
};
