// Over 200 lines, because it is one translation: of arguments and selections into groups, and back.
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLResolveInfo,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import {
  dimensionsOf,
  GROUPS_MAX,
  type Having,
  type Measure,
  measuresOf,
  type Order,
} from '#kernel/rest/aggregates.ts';
import type { Aggregates } from '../../aggregates/aggregates.ts';
import { demandReadable, type Found, type Groups, groupsIn } from '../../aggregates/groups.ts';
import { readPastGroups, TOO_MUCH } from '../../aggregates/past.ts';
import { represent } from '../../aggregates/representation.ts';
import { filtersIn, type RowFilter } from '../../kinds/list-rows.ts';
import type { Source } from '../../rows/source.ts';
import { demandSource, sourcesOf } from '../../rows/sources.ts';
import { pastListing } from '../../time-travel/listed.ts';
import { OutOfPlan } from '../planner/out-of-plan.ts';
import { type Collect, collectBy, selectionSetsOf } from '../planner/selections.ts';
import { aggregateName, aggregateNames, memberName } from '../rules/names.ts';
import type { Context, SelectingResolver } from './context.ts';
import { listedUnder } from './kinds.ts';
import { filterOf } from './lists.ts';
import type { Row } from './rows.ts';

type Resolvers = Readonly<Record<string, Readonly<Record<string, SelectingResolver>>>>;
type Arguments = Readonly<Record<string, unknown>>;

/** The resolvers of groups, by type: at the root, and at the parents and owners of lists. */
export const ofAggregates = (domain: Domain, aggregates: Pick<Aggregates, 'read'>): Resolvers => {
  const sources = sourcesOf(domain);
  const roots = sources.all.flatMap((source) =>
    source.parent === undefined ? [[aggregateName(source.kind), atRoot(aggregates, source)] as const] : [],
  );
  const under = sources.all.map(
    (above) =>
      [
        above.kind.type,
        Object.fromEntries(
          above.children.map((child) => {
            const source = demandSource(sources, child.kind.name);
            const of = listedUnder(above, source, child);
            const resolver: SelectingResolver = async (row: Row, args, context, info) => {
              const { parentId: id } = await of(row, context);
              return read(aggregates, context, { source, args, info, under: { column: child.column, id } });
            };
            return [aggregateName(child.kind), resolver] as const;
          }),
        ),
      ] as const,
  );
  return { Query: Object.fromEntries(roots), ...Object.fromEntries(under) };
};

const isGiven = (value: unknown): boolean => (value ?? null) !== null;

const atRoot =
  (aggregates: Pick<Aggregates, 'read'>, source: Source): SelectingResolver =>
  async (_query, args, context, info) =>
    read(aggregates, isGiven(args.at) ? await context.at(String(args.at)) : context, {
      ...{ source, args, info },
      under: undefined,
    });

type Asked = {
  readonly source: Source;
  readonly args: Arguments;
  readonly info: GraphQLResolveInfo;
  readonly under: { readonly column: string; readonly id: number } | undefined;
};

const read = async (
  aggregates: Pick<Aggregates, 'read'>,
  context: Context,
  { source, args, info, under }: Asked,
) => {
  const { caller, past, isSubscription } = context;
  if (isSubscription)
    throw new HttpProblem('invalid_parameter', { detail: 'Subscriptions have no groups: use a query.' });
  const filter = await filterOf(context, source, args.filter);
  const groups = groupsOf(source, args, selectedIn(source, info));
  const found = await oneByOne(context, () =>
    past
      ? readThen(context, { source, filter, under, groups })
      : aggregates.read({ source, caller, under, groups, rows: { filter } }),
  );
  return {
    groups: found.groups.map((group) => withKey(source, represent(groups, group))),
    hasMore: found.hasMore,
    asOf: past?.cursor ?? null,
  };
};

const latest = new WeakMap<Context['facts'], Promise<unknown>>();

/**
 * The aggregates of one operation, one after another: there are few connections for them, and others wait too.
 * Those that have not begun when the client leaves never begin.
 */
const oneByOne = <Result>({ facts }: Context, run: () => Promise<Result>): Promise<Result> => {
  const running = (latest.get(facts) ?? Promise.resolve()).then(() => {
    if (facts.signal.aborted) throw new HttpProblem('unavailable', { detail: 'The client has left.' });
    return run();
  });
  latest.set(
    facts,
    running.catch(() => undefined),
  );
  return running;
};

type Then = Pick<Asked, 'source' | 'under'> & { readonly filter: RowFilter; readonly groups: Groups };

const readThen = async (
  { domain, pool, caller, past }: Context,
  { source, filter, under, groups }: Then,
): Promise<Found> => {
  if (past === undefined) throw new Error('there is no point in time');
  demandReadable(caller, source, groups);
  if (filtersIn(source, filter).some(({ by }) => by === 'words'))
    throw new HttpProblem('invalid_parameter', { detail: 'With `at`, a list cannot be searched.' });
  const listed = await pastListing(past, caller, { source, under, filter });
  const found = await readPastGroups({
    ...{ domain, pool, past, caller, groups, kind: source.kind.name },
    ...listed,
  });
  if (found === undefined) throw new GraphQLError(TOO_MUCH, { extensions: { code: 'too_much_to_look_at' } });
  return found;
};

/** The arguments, as the parameters of REST. */
const groupsOf = ({ kind }: Source, args: Arguments, measures: readonly Measure[]): Groups => {
  const [dimensions, all] = [dimensionsOf(kind), measuresOf(kind)];
  const limit = Number(args.limit);
  if (isGiven(args.limit) && !(limit >= 1 && limit <= GROUPS_MAX))
    throw new GraphQLError(`There are 1 to ${GROUPS_MAX} groups, but ${limit} were requested.`, {
      extensions: { code: 'limit_out_of_range', max: GROUPS_MAX },
    });
  const named = (given: unknown): readonly string[] => (given ?? []) as readonly string[];
  const byOrder = aggregateNames<Order['by']>([...dimensions, ...all]);
  const [byDimension, byMeasure] = [aggregateNames(dimensions), aggregateNames(all)];
  return groupsIn({
    groupBy: named(args.groupBy).map((name) => demand(byDimension, name)),
    measures,
    having: ((args.having ?? []) as readonly Arguments[]).map(
      ({ measure, min, max }): Having => ({
        measure: demand(byMeasure, String(measure)),
        ...(isGiven(min) && { min: Number(min) }),
        ...(isGiven(max) && { max: Number(max) }),
      }),
    ),
    sort: named(args.sort).map((text): Order => {
      const [, name = '', direction] = /^(\w+)_(ASC|DESC)$/.exec(text) ?? [];
      return { by: demand(byOrder, name), descending: direction === 'DESC' };
    }),
    limit: isGiven(args.limit) ? limit : undefined,
  });
};

const demand = <Named>(all: ReadonlyMap<string, Named>, name: string): Named => {
  const found = all.get(name);
  if (found === undefined) throw new RangeError('The schema has another dimension or measure');
  return found;
};

/** The measures that the operation selects. */
const selectedIn = (source: Source, info: GraphQLResolveInfo): readonly Measure[] => {
  const all = measuresOf(source.kind);
  const { schema, fragments, variableValues, fieldNodes } = info;
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: Object.values(fragments) };
  const collect = collectBy(schema, document, variableValues);
  const sets = fieldNodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : []));
  try {
    const groups = within(info, collect, `${source.kind.type}Aggregate`, sets).get('groups') ?? [];
    const selected = within(info, collect, `${source.kind.type}AggregateGroup`, groups);
    const names = [...selected].flatMap(([of, inside]) =>
      of === 'count'
        ? ['count']
        : [
            ...(TYPES[of] ? within(info, collect, `${source.kind.type}Aggregate${TYPES[of]}`, inside) : []),
          ].map(([field]) => `${of}(${field})`),
    );
    return all.filter(({ name }) => names.includes(name));
  } catch (error) {
    // A directive of another service: nobody knows what it includes.
    if (error instanceof OutOfPlan) return all;
    throw error;
  }
};

const TYPES: Readonly<Record<string, string>> = { sum: 'Sum', avg: 'Avg', min: 'Min', max: 'Max' };

/** The selected fields of a type, with the selections inside them; an alias repeats a field. */
const within = (
  { schema }: GraphQLResolveInfo,
  collect: Collect,
  name: string,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly SelectionSetNode[]> => {
  const type = schema.getType(name);
  if (!isObjectType(type)) return new Map();
  const fields = Map.groupBy(collect(type, sets), (selected) => selected.name);
  return new Map([...fields].map(([field, selected]) => [field, selected.flatMap(selectionSetsOf)]));
};

/** The key by names of GraphQL; an id is a text. */
const withKey = ({ members }: Source, { key, ...measured }: ReturnType<typeof represent>) => ({
  // Also where nothing of it is selected.
  ...{ sum: {}, avg: {}, min: {}, max: {} },
  ...measured,
  key: Object.fromEntries(
    Object.entries(key).map(([field, value]) => {
      const member = members.find(({ name }) => name === field);
      const isId = member?.target !== undefined && value !== null;
      return [member ? memberName(member) : field, isId ? String(value) : value];
    }),
  ),
});
