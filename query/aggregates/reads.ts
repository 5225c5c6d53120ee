import type { ItemAnswer } from '#edge/rest/reads/answer.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { isUser } from '#kernel/base/users.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { whenAsked } from '#shared/when-asked.ts';
import { type Asked, askedFilter } from '../kinds/list.ts';
import { filtersIn } from '../kinds/list-rows.ts';
import { type KindReads, mayListUnder } from '../reads/reads.ts';
import type { AnyReads, Reader } from '../rest/read-routes.ts';
import { demandSearchable } from '../rows/rights.ts';
import { poolFor, type ReadConnections } from '../rows/searches.ts';
import type { Source } from '../rows/source.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import type { PastOptions } from '../time-travel/options.ts';
import type { Aggregates } from './aggregates.ts';
import { type AskedGroups, demandReadable, type Found, type Groups, groupsIn, refused } from './groups.ts';
import { readPastGroups, TOO_MUCH } from './past.ts';
import { represent } from './representation.ts';

/** The units that an aggregate costs beyond those of another read: it reads every page of the list. */
const UNITS_MORE = 4;

type Dependencies = ReadConnections & {
  readonly domain: Domain;
  readonly kinds: KindReads;
  readonly timeTravel: PastOptions;
  readonly aggregates: Aggregates;
};

type Listed = { readonly source: Source; readonly of: 'list' | 'listOfUser' };
type Given = { readonly filters: Asked; readonly groups: Groups };
type Answered = Found & { readonly path: string; readonly at?: string };

/** The reads of aggregates over REST, by operation id. */
export const aggregateReads = (dependencies: Dependencies): AnyReads => {
  const { domain } = dependencies;
  const [readNow, readThen] = [readingNow(dependencies), readingThen(dependencies)];
  return Object.fromEntries(
    ofAggregates(domain).flatMap(([id, { use }]) => {
      if (use.does !== 'aggregate') return [];
      const listed: Listed = { source: demandSource(sourcesOf(domain), use.kind.name), of: use.of };
      const read = async (reader: Reader, asked: AskedGroups & object): Promise<ItemAnswer> => {
        const { groupBy, measures, having, sort, limit, ...rest } = asked;
        const filters = rest as Asked;
        const given = { filters, groups: groupsIn({ groupBy, measures, having, sort, limit }) };
        await reader.charge(UNITS_MORE);
        for (const { guard, name } of filtersIn(listed.source, askedFilter(listed.source, filters)))
          demandSearchable(reader.caller, guard, name);
        const found = await (filters.at === undefined ? readNow : readThen)(listed, reader, given);
        return answerOf(found, given, asked);
      };
      return [[id, read]];
    }),
  );
};

type Read = (listed: Listed, reader: Reader, given: Given) => Promise<Answered>;

const readingNow = ({ domain, pool, searches, kinds, aggregates }: Dependencies): Read => {
  /** The parent or the owner of the list, for those who may list below it. */
  const openUnder = async ({ source, of }: Listed, { caller, id }: Reader) => {
    const { parent, owner, kind } = source;
    if (of === 'listOfUser') {
      const user = await kinds.find('user')(pathId(id), () => true);
      return { column: owner?.column ?? '', id: user.id, path: `/users/${user.id}/${kind.path}` };
    }
    if (!parent?.target) return undefined;
    const { target, column } = parent;
    const above = await kinds.find(target.name)(pathId(id), (row) =>
      mayListUnder(domain, source, row, caller),
    );
    return { column, id: above.id, path: `/${target.path}/${above.id}/${kind.path}` };
  };
  return async (listed, reader, { filters, groups }) => {
    const { source } = listed;
    const under = await openUnder(listed, reader);
    // Refuses words that no index finds. Users are searched without one.
    const words = filters.q as string | undefined;
    const isOfUsers = isUser(source.kind);
    if (!isOfUsers) await poolFor({ pool, searches }, words);
    const rows = { filter: askedFilter(source, filters), named: isOfUsers ? words : undefined };
    const found = await aggregates.read({ source, caller: reader.caller, rows, under, groups });
    return { ...found, path: under?.path ?? `/${source.kind.path}` };
  };
};

const readingThen = ({ domain, kinds, timeTravel }: Dependencies): Read => {
  const then = whenAsked(async () =>
    (await import('../time-travel/past-reads.ts')).createPastReads(kinds, timeTravel),
  );
  return async ({ source, of }, reader, { filters, groups }) => {
    const { caller } = reader;
    demandReadable(caller, source, groups);
    const { opened } = await then();
    const asked = { ...filters, at: String(filters.at) };
    const { past, path, ...listed } = await opened[of](source.kind.name, reader, asked);
    const { pool } = timeTravel;
    const found = await readPastGroups({
      domain,
      pool,
      past,
      caller,
      kind: source.kind.name,
      groups,
      ...listed,
    });
    if (found === undefined) throw refused('at', TOO_MUCH);
    return { ...found, path, at: past.cursor };
  };
};

/** The link to itself names the position, however the client named the time. */
const answerOf = (
  { groups: found, hasMore, path, at }: Answered,
  { filters, groups }: Given,
  asked: AskedGroups,
): ItemAnswer => {
  const query = new URLSearchParams(
    Object.entries({ ...textsOf(asked), ...filters, at }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
  ).toString();
  return {
    kind: 'item',
    version: undefined,
    item: {
      groups: found.map((group) => represent(groups, group)),
      hasMore,
      _links: { self: { href: `${path}/aggregate${query === '' ? '' : `?${query}`}` } },
    },
    ...(at !== undefined && { headers: { 'As-Of': at } }),
  };
};

/** The parameters as they were sent. */
const textsOf = ({
  groupBy,
  measures,
  having,
  sort,
  limit,
}: AskedGroups): Readonly<Record<string, unknown>> => ({
  groupBy: groupBy?.map(({ name }) => name),
  measures: measures?.map(({ name }) => name),
  having: having?.map(({ measure, min = '', max = '' }) => `${measure.name}:${min}..${max}`),
  sort: sort?.map(({ by, descending }) => `${descending ? '-' : ''}${by.name}`),
  limit,
});
