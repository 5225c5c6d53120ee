import type { Operation } from '#kernel/base/operation.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import {
  type Dimension,
  ENTRIES_MAX,
  GROUPS_DEFAULT,
  type Having,
  type Measure,
  type Order,
  TOO_MANY,
} from '#kernel/rest/aggregates.ts';
import { type Caller, reachOf } from '#shared/policy.ts';
import { noteOf } from '#shared/read-log/noted.ts';
import type { Source } from '../rows/source.ts';
import { rightsToField } from '../rows/sources.ts';

/** The parameters of an aggregate, parsed one by one. */
export type AskedGroups = {
  readonly groupBy?: readonly Dimension[] | undefined;
  readonly measures?: readonly Measure[] | undefined;
  readonly having?: readonly Having[] | undefined;
  readonly sort?: readonly Order[] | undefined;
  readonly limit?: number | undefined;
};

/** How items become groups. */
export type Groups = {
  readonly dimensions: readonly Dimension[];
  /** The measures that are shown. */
  readonly measures: readonly Measure[];
  /** With those that groups are selected and sorted by. */
  readonly computed: readonly Measure[];
  readonly having: readonly Having[];
  /** No two groups are equal in it. */
  readonly order: readonly Order[];
  readonly limit: number;
};

/** A group: the values of its dimensions, and of the computed measures. */
export type Group = { readonly keys: readonly unknown[]; readonly values: readonly unknown[] };
export type Found = { readonly groups: readonly Group[]; readonly hasMore: boolean };

const COUNT: Measure = { name: 'count', of: 'count' };

/** Checks what the parameters say together. */
export const groupsIn = ({
  groupBy = [],
  measures = [COUNT],
  having = [],
  sort = [],
  limit = GROUPS_DEFAULT,
}: AskedGroups): Groups => {
  demandOnce(
    'groupBy',
    groupBy.map(({ field }) => field),
  );
  demandOnce(
    'measures',
    measures.map(({ name }) => name),
  );
  // A field may have the name of a measure.
  demandOnce(
    'sort',
    sort.map(({ by }) => (isDimension(by) ? `groupBy ${by.name}` : by.name)),
  );
  for (const [parameter, entries] of Object.entries({ groupBy, measures, having, sort }))
    if (entries.length > ENTRIES_MAX) throw refused(parameter, TOO_MANY);
  const missing = sort.find(({ by }) => isDimension(by) && !groupBy.includes(by));
  if (missing) throw refused('sort', `${missing.by.name} is neither a measure nor in groupBy.`);
  const others = groupBy.filter((each) => sort.every(({ by }) => by !== each));
  const all = [
    // A group has at least a number.
    ...(measures.length === 0 && groupBy.length === 0 ? [COUNT] : measures),
    ...having.map(({ measure }) => measure),
    ...sort.flatMap(({ by }) => (isDimension(by) ? [] : [by])),
  ];
  return {
    dimensions: groupBy,
    measures,
    computed: [...new Map(all.map((measure) => [measure.name, measure])).values()],
    having,
    order: [...sort, ...others.map((by) => ({ by, descending: false }))],
    limit,
  };
};

export const isDimension = (by: Order['by']): by is Dimension => !('of' in by);

/** The index of a part of the order among the dimensions, or among the computed measures. */
export const placeOf = ({ dimensions, computed }: Groups, { by }: Pick<Order, 'by'>): number =>
  (isDimension(by) ? dimensions : computed).findIndex(({ name }) => name === by.name);

const demandOnce = (parameter: string, names: readonly string[]): void => {
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw refused(parameter, `Must not have ${repeated} twice.`);
};

export const refused = (parameter: string, detail: string): HttpProblem =>
  new HttpProblem('invalid_parameter', { detail, extensions: { errors: [{ parameter, detail }] } });

/** The fields of which values are read. */
export const fieldsIn = ({ dimensions, computed }: Groups): readonly string[] => [
  ...new Set([
    ...dimensions.map(({ field }) => field),
    ...computed.flatMap((measure) => (measure.of === 'count' ? [] : [measure.field])),
  ]),
];

/**
 * Refuses fields that the caller may not read of any item. Of one item, they count as absent. The others are
 * read, and so noted; numbers show no item.
 */
export const demandReadable = (caller: Caller, source: Source, groups: Groups): void => {
  for (const field of fieldsIn(groups))
    if (!rightsToField(source, field).every((right) => isReadableSomewhere(caller, right)))
      throw refused(parameterWith(groups, field), `You may not read ${field}.`);
  noteOf(source.kind)?.(undefined, fieldsIn(groups));
};

const isReadableSomewhere = (caller: Caller, right: Operation): boolean => reachOf(caller, right).size > 0;

const parameterWith = ({ dimensions, measures, having }: Groups, field: string): string => {
  const isOf = (measure: Measure): boolean => measure.of !== 'count' && measure.field === field;
  if (dimensions.some((each) => each.field === field)) return 'groupBy';
  if (measures.some(isOf)) return 'measures';
  return having.some(({ measure }) => isOf(measure)) ? 'having' : 'sort';
};
