import { targetOf } from '#kernel/base/names.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import { listsOf, orderName } from '../../query/graphql/rules/names.ts';
import type { Sort, Source } from '../../query/rows/source.ts';
import { sourcesOf } from '../../query/rows/sources.ts';
import { inDatabase } from '../database/search-everywhere.ts';
import type { Checks } from './checks.ts';
import { checkBothWays, sizeFor } from './pages.ts';
import type { Made, Stage } from './stage.ts';

const sortedPages = (kind: Kind, sort: string): string => `pages of ${kind.plural} by ${sort}`;

/** The names under which checks of sorted lists are counted. */
export const sortsOf = ({ domain }: Pick<Stage, 'domain'>, kind: Kind): readonly string[] =>
  (sourcesOf(domain).of(kind.name)?.sorts ?? []).map(({ name }) => sortedPages(kind, name));

/**
 * Each order, ascending and descending, forward and back. Sets equal values for many rows directly in the
 * database.
 */
export const checkSortedPages = async (
  stage: Stage,
  checks: Checks,
  made: readonly Made[],
): Promise<void> => {
  const [first] = made;
  const source = first && sourcesOf(stage.domain).of(first.situation.kind.name);
  if (first === undefined || source === undefined) return;
  const { kind } = first.situation;
  const parent =
    kind.parent === undefined ? undefined : first.ids.get(Number(first.situation.state.fields[kind.parent]));
  for (const sort of source.sorts) {
    const restore = await tie(stage, source, sort);
    try {
      for (const isDescending of [false, true])
        await checkSort(
          { stage, checks: checks.of(sortedPages(kind, sort.name)), source, parent },
          sort,
          isDescending,
        );
    } finally {
      await restore();
    }
  }
};

type Sorting = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly source: Source;
  readonly parent: number | undefined;
};

const checkSort = async (
  { stage, checks, source, parent }: Sorting,
  sort: Sort,
  isDescending: boolean,
): Promise<void> => {
  const { kind } = source;
  const wanted = await idsInOrder(stage, { source, sort, isDescending, parent });
  const size = sizeFor(wanted.length);
  const above = aboveOf(stage, kind, parent);
  const connection = {
    ...(above === undefined
      ? { before: '', after: '' }
      : { before: `one: ${above.field}(id: "${parent}") {`, after: '}' }),
    ...{ name: `${listsOf(kind)}Connection`, args: `, sort: ${orderName(sort, isDescending)}`, node: 'id' },
    keyOf: ({ id }: Row) => String(id),
  };
  const path = `${above === undefined ? '' : `/${above.path}/${parent}`}/${kind.path}?sort=${isDescending ? '-' : ''}${sort.name}&limit=${size}`;
  await checkBothWays(
    { stage, checks, by: stage.admin },
    { path, size, wanted, keyOf: ({ id }) => String(id), connection, hasPlaces: true },
  );
};

const aboveOf = ({ domain }: Stage, kind: Kind, parent: number | undefined): Kind | undefined => {
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  return def === undefined || parent === undefined ? undefined : domain.kinds[targetOf(def)];
};

type Ordered = {
  readonly source: Source;
  readonly sort: Sort;
  readonly isDescending: boolean;
  readonly parent: number | undefined;
};

/** The ids that an administrator may read, in the order of the table. */
const idsInOrder = async (
  stage: Stage,
  { source, sort, isDescending, parent }: Ordered,
): Promise<readonly string[]> => {
  const { kind, table, presence } = source;
  const { DATABASE_URL = '' } = stage.installation.settings;
  const direction = isDescending ? 'desc' : 'asc';
  const [states] = Object.entries(kind.fields).find(([, def]) => def.kind === 'states') ?? [];
  const rows = await inDatabase(DATABASE_URL, async (client) => {
    const found = await client.query<{ row: Row; id: string }>(
      `select id::text, to_jsonb(t) as row from ${table} t where ${sort.column} is not null
       order by ${sort.column} ${direction}, t.id ${direction}`,
    );
    return found.rows;
  });
  const kept = rows.filter(({ row }) => {
    if (presence && (row[presence.column] === null) !== presence.isNull) return false;
    if (parent !== undefined && source.parent !== undefined && row[source.parent.column] !== parent)
      return false;
    return sort.state === undefined || states === undefined || row[states] === sort.state;
  });
  // Leaves out rows that administrators may not read.
  const visible = new Set<string>();
  for (const { id } of kept)
    if ((await stage.read(`/${kind.path}/${id}`, stage.admin)).status === 200) visible.add(id);
  return kept.flatMap(({ id }) => (visible.has(id) ? [id] : []));
};

/** Gives half of the rows one time, and the others another. Returns a function that reverts it. */
const tie = async (stage: Stage, { table }: Source, { column }: Sort): Promise<() => Promise<void>> => {
  const { DATABASE_URL = '' } = stage.installation.settings;
  await inDatabase(DATABASE_URL, async (client) => {
    await client.query(`create table public.kept_order as select id, ${column} as value from ${table}`);
    await client.query(`update ${table} t set ${column} = o.value
      from (select case when id % 3 = 0 then max(value) over () else min(value) over () end as value, id
        from public.kept_order) o
      where o.id = t.id and t.${column} is not null`);
  });
  return () =>
    inDatabase(DATABASE_URL, async (client) => {
      await client.query(
        `update ${table} t set ${column} = o.value from public.kept_order o where o.id = t.id`,
      );
      await client.query('drop table public.kept_order');
    });
};
