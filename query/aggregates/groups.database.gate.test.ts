// Over 200 lines, because it is one comparison: its random rows, its random queries, and what is expected.
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { periodOf } from '#kernel/base/period.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { dimensionsOf, measuresOf } from '#kernel/rest/aggregates.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { helpdesk } from '../../examples/helpdesk/domain/domain.ts';
import { parcels } from '../../test/describe/parcels.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { departments } from '../../test/toy/departments.ts';
import { type Random, randomOf } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { createKindReads } from '../reads/reads.ts';
import type { Reader } from '../rest/read-routes.ts';
import { searchesOn } from '../rows/searches.ts';
import type { Source } from '../rows/source.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { openAggregates } from './aggregates.ts';
import { foldGroups } from './fold.ts';
import { type AskedGroups, groupsIn } from './groups.ts';
import { aggregateReads } from './reads.ts';
import { represent } from './representation.ts';

/** Groups equal those of the list that the same caller reads, for random rows and random queries. */
const DOMAINS: readonly (readonly [string, Domain])[] = Object.entries({
  publishing,
  expenses,
  helpdesk,
  departments,
  parcels,
});
const ROWS = 40;
const QUERIES = Number(process.env.AGGREGATES ?? 60);
const USERS = 4;

type Item = Readonly<Record<string, unknown>>;
type Filters = Readonly<Record<string, never>>;
type Answer = {
  readonly groups: readonly (Item & { readonly key: Item })[];
  readonly hasMore: boolean;
  readonly _links: { readonly self: { readonly href: string } };
};

const instantOf = (random: Random): string =>
  new Date(
    Date.UTC(2025, 11, 20 + random.below(25), random.below(24), 0, 0, random.below(999)),
  ).toISOString();

const randomValue = (
  random: Random,
  def: FieldDef,
  { isUserId }: { readonly isUserId: boolean },
): unknown => {
  if (def.optional && random.chance(30)) return null;
  switch (def.kind) {
    case 'choice':
    case 'states':
      return random.pick(def.values ?? []);
    case 'boolean':
      return random.chance(50);
    case 'integer':
      return random.below(6) - (def.recorded.safeParse(-1).success ? 3 : 0);
    case 'instant':
      return instantOf(random);
    case 'date':
      return instantOf(random).slice(0, 10);
    case 'ref':
      return 1 + random.below(isUserId ? USERS : 5);
    case 'set':
      return random.some(2, () => random.pick(['one', 'two']));
    default:
      return random.pick(['mill', 'office', 'Ä', 'ä', '😀']);
  }
};

/** Every kind has rows with the ids from 1 on; users first. */
const fill = async (pool: Pool, domain: Domain, random: Random): Promise<void> => {
  for (const { kind, members, table } of sourcesOf(domain).all) {
    const isUser = kind.name === 'user';
    for (let id = 1; id <= (isUser ? USERS : ROWS); id += 1) {
      const columns = members.map(({ column, def, target }) => [
        column,
        column === 'role'
          ? domain.roles.filter((role) => role !== 'anonymous')[id % (domain.roles.length - 1)]
          : randomValue(random, def, { isUserId: target?.name === 'user' }),
      ]);
      const all: Item = {
        id,
        version: 1,
        created_at: instantOf(random),
        updated_at: instantOf(random),
        ...Object.fromEntries(columns),
      };
      const names = Object.keys(all);
      await pool.query(
        `insert into ${table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
        Object.values(all),
      );
    }
  }
};

const callersOf = (domain: Domain): readonly Caller[] => {
  const policy = policyOf(domain);
  const signedIn = domain.roles.flatMap((role) =>
    role === 'anonymous'
      ? []
      : [1, 2].map((userId) => ({
          ...callerIn(policy, { userId, role }),
          attributes: { department: 'mill' },
        })),
  );
  return [{ kind: 'anonymous', policy }, ...signedIn];
};

const queryOf = (
  random: Random,
  { kind, filters }: Source,
  shape: object,
): Readonly<Record<string, string>> => {
  const [dimensions, measures] = [dimensionsOf(kind), measuresOf(kind)];
  const groupBy = [
    ...new Map(random.some(3, () => random.pick(dimensions)).map((each) => [each.field, each])).values(),
  ].map(({ name }) => name);
  const numbers = measures.filter((measure) => measure.of === 'count' || measure.def.kind === 'integer');
  const named = [...new Set([random.pick(measures), ...random.some(3, () => random.pick(measures))])];
  const having = random.some(
    1,
    () => `${random.pick(numbers).name}:${random.below(3)}..${random.pick(['', '9'])}`,
  );
  const sort = new Set(random.some(2, () => random.pick([...groupBy, ...measures.map(({ name }) => name)])));
  const wanted = filters.filter(
    ({ name, by, def }) => by !== 'words' && def?.kind !== 'text' && name in shape && random.chance(20),
  );
  return {
    ...(groupBy.length > 0 && { groupBy: groupBy.join(',') }),
    measures: named.map(({ name }) => name).join(','),
    ...(having.length > 0 && { having: having.join(',') }),
    ...(sort.size > 0 && { sort: [...sort].map((each) => `${random.pick(['', '-'])}${each}`).join(',') }),
    limit: random.pick(['1', '2', '5', '1000']),
    ...Object.fromEntries(
      wanted.flatMap(({ name, def }) =>
        def === undefined
          ? []
          : [
              [
                name,
                String(
                  [randomValue(random, { ...def, optional: false }, { isUserId: true })].flat()[0] ?? 'one',
                ),
              ],
            ],
      ),
    ),
  };
};

/** The groups as a reader of the list computes them. */
const byHand = (items: readonly Item[], { dimensions, measures }: ReturnType<typeof groupsIn>) => {
  const value = (item: Item, field: string): unknown => {
    const shown = item[field] ?? item[`${field}Id`] ?? null;
    return typeof shown === 'object' && shown !== null ? (shown as Item).id : shown;
  };
  const keyOf = (item: Item): Item =>
    Object.fromEntries(
      dimensions.map(({ field, period }) => {
        const of = value(item, field);
        return [field, of === null || period === undefined ? of : periodOf(period, String(of))];
      }),
    );
  const groups = Map.groupBy(items, (item) => JSON.stringify(keyOf(item)));
  if (dimensions.length === 0 && groups.size === 0) groups.set('{}', []);
  return new Map(
    [...groups].map(([key, of]) => [
      key,
      measures.map((measure) => {
        if (measure.of === 'count') return of.length;
        const values = of.map((item) => value(item, measure.field)).filter((each) => each !== null);
        if (values.length === 0) return null;
        const sum = (values as number[]).reduce((total, each) => total + each, 0);
        const sorted = values.toSorted((one, other) => ((one as number) < (other as number) ? -1 : 1));
        return { sum, avg: sum / values.length, min: sorted[0], max: sorted.at(-1) }[measure.of];
      }),
    ]),
  );
};

test.each(DOMAINS)(`%s: groups are those of the list (TEST_SEED=${SEED})`, async (_name, domain) => {
  const random = randomOf(SEED);
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 });
  await createReadModel(pool, tablesOf(domain), 'read_model');
  await fill(pool, domain, random);
  const searches = searchesOn(pool);
  const kinds = createKindReads({ domain, pool, searches });
  await using aggregates = await openAggregates({
    databaseUrl: database.url,
    metrics: createMetrics(),
    clock: REAL_TIME,
  } as Parameters<typeof openAggregates>[0]);
  const reads = aggregateReads({ domain, pool, searches, kinds, aggregates, timeTravel: undefined as never });
  const compared = { groups: 0, units: 0, runs: 0 };
  for (const [id, { use, query }] of ofAggregates(domain)) {
    if (use.does !== 'aggregate' || query === undefined) continue;
    const source = demandSource(sourcesOf(domain), use.kind.name);
    for (let run = 0; run < QUERIES; run += 1) {
      const caller = random.pick(callersOf(domain));
      const reader: Reader = {
        caller,
        id: String(1 + random.below(USERS)),
        async charge(units) {
          compared.units += units;
        },
      };
      const sent = queryOf(random, source, query.shape);
      const asked = parametersOf(query, sent);
      const { groupBy, measures, having, sort, limit, ...filters } = asked as AskedGroups & Filters;
      const groups = groupsIn({ groupBy, measures, having, sort, limit });
      const what = `${id} ${JSON.stringify(sent)} by ${JSON.stringify({ ...caller, policy: undefined })}`;
      compared.runs += 1;
      const items = await itemsOf((page) => kinds[use.of](use.kind.name)(reader, { ...filters, ...page }));
      const answer = await (
        reads[id] as unknown as (reader: Reader, asked: unknown) => Promise<{ item: Answer }>
      )(reader, asked).catch((error: unknown) => error);
      if (answer instanceof Error || items === undefined) {
        expect([what, answer]).toEqual([what, expect.any(Error)]);
        const isHidden = (items ?? []).every((item) =>
          [...dimensionsOf(source.kind), ...measuresOf(source.kind)].some(
            (each) => 'field' in each && !(each.field in item) && !(`${each.field}Id` in item),
          ),
        );
        expect([what, isHidden]).toEqual([what, true]);
        continue;
      }
      const { item } = answer as { readonly item: Answer };
      const folded = foldGroups(items, groups);
      expect([what, item.groups, item.hasMore]).toEqual([
        what,
        folded.groups.map((group) => represent(groups, group)),
        folded.hasMore,
      ]);
      const hand = byHand(items, groups);
      for (const { key, ...values } of item.groups)
        expect([
          what,
          key,
          groups.measures.map((measure) =>
            measure.of === 'count' ? values.count : (values[measure.of] as Item)[measure.field],
          ),
        ]).toEqual([what, key, hand.get(JSON.stringify(key))]);
      if (having === undefined && !item.hasMore)
        expect([what, item.groups.length]).toEqual([what, hand.size]);
      compared.groups += item.groups.length;
      const again = new URL(item._links.self.href, 'http://localhost').searchParams;
      expect([what, parametersOf(query, Object.fromEntries(again))]).toEqual([what, asked]);
    }
  }
  expect(compared.groups).toBeGreaterThan(100);
  // A list charges nothing beyond the request.
  expect(compared.units).toBe(4 * compared.runs);
});

type Page = Readonly<Record<string, string | number>>;

/** The items on all pages; undefined if the list is refused. */
const itemsOf = async (
  read: (
    page: Page,
  ) => Promise<{ readonly items: readonly object[]; readonly links: { readonly next?: string } }>,
): Promise<readonly Item[] | undefined> => {
  const items: Item[] = [];
  let page: Page = { limit: 100 };
  for (;;) {
    const { items: found, links } = await read(page).catch((error: unknown) => {
      if (error instanceof HttpProblem || error instanceof Error) return { items: undefined, links: {} };
      throw error;
    });
    if (found === undefined) return undefined;
    items.push(...(found as readonly Item[]));
    const { next }: { readonly next?: string } = links;
    if (next === undefined) return items;
    page = { limit: 100, after: new URL(next, 'http://localhost').searchParams.get('after') ?? '' };
  }
};
