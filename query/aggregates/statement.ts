import type { Operation } from '#kernel/base/operation.ts';
import type { Period } from '#kernel/base/period.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Having, Measure, MeasureFunction, Order } from '#kernel/rest/aggregates.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { type AskedRows, partsOf } from '../kinds/list-rows.ts';
import { selectionOfList } from '../kinds/selection.ts';
import { rowsWith } from '../rows/rights.ts';
import type { Source } from '../rows/source.ts';
import { type Row, rightsToField } from '../rows/sources.ts';
import { Parameters, runWithCustomPlan } from '../rows/statement.ts';
import { type Found, fieldsIn, type Groups, isDimension, placeOf } from './groups.ts';

export type Asking = {
  readonly source: Source;
  readonly caller: Caller;
  /** The rows of the list that are asked for. */
  readonly rows: Pick<AskedRows, 'filter' | 'named'>;
  readonly under?: { readonly column: string; readonly id: number } | undefined;
  readonly groups: Groups;
};

/** The groups of the rows that the list contains for this caller, by one statement. */
export const readGroups = async (pool: Pool, asking: Asking): Promise<Found> => {
  const { groups } = asking;
  const parameters = new Parameters();
  const text = statementOf(asking, parameters);
  const found = await runInTime(() => runWithCustomPlan<Row>(pool, text, parameters.values));
  return {
    groups: found.slice(0, groups.limit).map((row) => ({
      keys: groups.dimensions.map((_, index) => row[`k${index}`]),
      values: groups.computed.map((_, index) => row[`m${index}`]),
    })),
    hasMore: found.length > groups.limit,
  };
};

/** From the inside: the values that the caller may read, the groups, and those of them that are asked for. */
const statementOf = (asking: Asking, parameters: Parameters): string => {
  const { groups } = asking;
  const { dimensions, computed, having, order, limit } = groups;
  const keys = dimensions.map((_, index) => `k${index}`);
  const fields = fieldsIn(groups);
  const measures = computed.map((each, index) => `${measureSql(each, fields)} as m${index}`);
  const grouped = `select ${[...keys, ...measures].join(', ')} from (${valuesSql(asking, fields, parameters)}) r${keys.length === 0 ? '' : ` group by ${keys.join(', ')}`}`;
  const ranges = having.flatMap((range) => rangeSql(groups, range, parameters));
  const where = ranges.length === 0 ? '' : ` where ${ranges.join(' and ')}`;
  const ordered = order.map((each) => orderSql(groups, each));
  const by = ordered.length === 0 ? '' : ` order by ${ordered.join(', ')}`;
  return `select * from (${grouped}) g${where}${by} limit ${parameters.add(limit + 1)}::bigint`;
};

/** Of nothing if the caller may read no part of the list: also then, all of it is one group. */
const valuesSql = (
  { source, caller, rows, under, groups }: Asking,
  fields: readonly string[],
  parameters: Parameters,
): string => {
  const reading = { source, caller, parameters, selection: selectionOfList(source) };
  const parts = partsOf(reading, rows, { under });
  const readableOf = readableValues(source, caller, parameters);
  const columns = [
    ...groups.dimensions.map(
      ({ field, period }, index) => `${periodSql(period, readableOf(field))} as k${index}`,
    ),
    ...fields.map((field, index) => `${readableOf(field)} as v${index}`),
  ].join(', ');
  return parts.length === 0
    ? `select ${columns} from ${source.table} t where false`
    : parts.map((part) => `select ${columns} ${part}`).join(' union all ');
};

/** The value of a field of the row t; null if the caller may not read it there. */
const readableValues = (source: Source, caller: Caller, parameters: Parameters) => {
  const conditions = new Map<Operation, readonly string[]>();
  const conditionsFor = (right: Operation): readonly string[] => {
    const known = conditions.get(right) ?? rowsWith(caller, source, right, parameters);
    conditions.set(right, known);
    return known;
  };
  return (field: string): string => {
    const value = `t.${columnOf(source, field)}`;
    const readable = rightsToField(source, field).flatMap(conditionsFor);
    return readable.length === 0 ? value : `case when ${readable.join(' and ')} then ${value} end`;
  };
};

const TIMES: Readonly<Record<string, string>> = { createdAt: 'created_at', updatedAt: 'updated_at' };

const columnOf = ({ kind, members }: Source, field: string): string => {
  const column = members.find(({ name }) => name === field)?.column ?? TIMES[field];
  if (column === undefined) throw new RangeError(`${kind.name} has no field ${field}`);
  return column;
};

/** As `periodOf` writes them. */
const FORMATS: Readonly<Record<Period, string>> = {
  day: 'YYYY-MM-DD',
  week: 'IYYY-"W"IW',
  month: 'YYYY-MM',
};

/** A date is at midnight in any time zone. */
const periodSql = (period: Period | undefined, value: string): string =>
  period === undefined ? value : `to_char((${value})::timestamptz at time zone 'UTC', '${FORMATS[period]}')`;

/** Numbers with the precision of JSON. */
const measureSql = (measure: Measure, fields: readonly string[]): string => {
  if (measure.of === 'count') return 'count(*)';
  return MEASURES[measure.of](`v${fields.indexOf(measure.field)}`);
};

const MEASURES: Readonly<Record<MeasureFunction, (value: string) => string>> = {
  sum: (value) => `sum(${value})::float8`,
  avg: (value) => `sum(${value})::float8 / count(${value})`,
  min: (value) => `min(${value})`,
  max: (value) => `max(${value})`,
};

const rangeSql = (
  groups: Groups,
  { measure, min, max }: Having,
  parameters: Parameters,
): readonly string[] => {
  const value = `g.m${placeOf(groups, { by: measure })}`;
  return [
    ...(min === undefined ? [] : [`${value} >= ${parameters.add(min)}::float8`]),
    ...(max === undefined ? [] : [`${value} <= ${parameters.add(max)}::float8`]),
  ];
};

const TEXTS: ReadonlySet<string> = new Set(['choice', 'states', 'text']);

/** Texts in the same order wherever the database runs. */
const orderSql = (groups: Groups, order: Order): string => {
  const { by, descending } = order;
  const place = `g.${isDimension(by) ? 'k' : 'm'}${placeOf(groups, order)}`;
  const isText = isDimension(by) && (by.period !== undefined || TEXTS.has(by.def.kind));
  return `${place}${isText ? ' collate "C"' : ''} ${descending ? 'desc' : 'asc'} nulls last`;
};

export const STATEMENT_TIMEOUT_MS = 5_000;
const TIMED_OUT = '57014';

/** The same statement would take as long again, so nothing invites the client to repeat it. */
const runInTime = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  try {
    return await run();
  } catch (error) {
    const cause = error instanceof Error && (error.cause as { readonly code?: unknown } | undefined);
    if (!cause || cause.code !== TIMED_OUT) throw error;
    throw new HttpProblem('invalid_parameter', {
      detail: `This takes longer than ${STATEMENT_TIMEOUT_MS / 1_000} seconds: narrow it by filters, or declare a view.`,
      cause: error,
    });
  }
};
