import { isDeepStrictEqual } from 'node:util';
import { targetOf } from '#kernel/base/names.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import { dimensionsOf } from '#kernel/rest/aggregates.ts';
import { parentOf } from '#kernel/rest/operation.ts';
import type { Checks } from './checks.ts';
import { type Asking, mayAs, UnknownCondition } from './declared.ts';
import { askingAs, openSeenRows, type SeenRows, stateOf } from './seen-rows.ts';
import { checkSortedPages } from './sorted-pages.ts';
import { type Actor, isCrowded, type Made, type Stage } from './stage.ts';

/** Lists contain the readable aggregates, sorted, filtered on request, in pages without gaps. */
export const checkLists = async (stage: Stage, checks: Checks, kind: Kind): Promise<void> => {
  const situations = stage.found.situations.filter((each) => each.kind === kind);
  const made: Made[] = [];
  for (const situation of isCrowded(stage.domain) ? situations.slice(0, 1) : situations)
    made.push(await stage.shared(situation));
  const seenRows = openSeenRows(stage);
  for (const { id } of made) await seenRows.look(kind, id);
  const lists = new Set(made.map((one) => listOf(stage, one)));
  for (const path of lists) {
    for (const actor of stage.actors)
      await checkReaders({ stage, checks, kind, seenRows, made, path }, actor);
    await checkPages({ stage, checks, kind, seenRows, made, path });
  }
  const [path] = lists;
  if (path !== undefined && kind.parent === undefined)
    await checkFilters({ stage, checks, kind, seenRows, made, path });
  await checkSortedPages(stage, checks, made);
  for (const one of made) await stage.unmake(one);
};

type Listing = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly kind: Kind;
  readonly seenRows: SeenRows;
  readonly made: readonly Made[];
  readonly path: string;
};

const listOf = ({ domain }: Stage, { situation: { kind, state }, ids }: Made): string => {
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  const parent = def && domain.kinds[targetOf(def)];
  return parent
    ? `/${parent.path}/${ids.get(Number(state.fields[kind.parent ?? '']))}/${kind.path}`
    : `/${kind.path}`;
};

/** All pages, by their links. */
export const readPages = async (
  { read }: Stage,
  by: Actor,
  path: string,
): Promise<{ readonly items: readonly Row[]; readonly status: number }> => {
  const items: Row[] = [];
  let next: string | undefined = path;
  let status = 200;
  for (let page = 0; next !== undefined && page < PAGES_MAX; page += 1) {
    const answer: { readonly status: number; readonly body: readonly Row[]; readonly headers: Headers } =
      await read(next, by);
    status = answer.status;
    if (status !== 200) break;
    items.push(...answer.body);
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return { items, status };
};
const PAGES_MAX = 500;

const checkReaders = async (
  { stage, checks, kind, seenRows, made, path }: Listing,
  actor: Actor,
): Promise<void> => {
  const here = made.filter((one) => listOf(stage, one) === path);
  try {
    const asking = askingAs(stage, seenRows, actor);
    const wanted = here
      .filter(({ id }) => {
        const state = seenRows.find(kind.name, id);
        return state !== undefined && mayAs(asking, kind, 'read', state) && isListSeen(asking, kind, state);
      })
      .map(({ id }) => id);
    const { items, status } = await readPages(stage, actor, `${path}?limit=100`);
    if (status !== 200) {
      checks.equal(wanted, [], `${path} is refused to ${actor.key}`);
      if (!serves(stage.domain, 'aggregates')) return;
      const { status: refused } = await stage.read(`${path}/aggregate`, actor);
      checks.equal(refused, status, `${path}/aggregate for ${actor.key}, as the list`);
      return;
    }
    const known = new Set(here.map(({ id }) => id));
    const listed = items.map(({ id }) => Number(id)).filter((id) => known.has(id));
    checks.equal(listed.toSorted(), wanted.toSorted(), `${path} for ${actor.key}`);
    if (serves(stage.domain, 'aggregates')) await checkAggregate({ stage, checks, kind, path }, actor, items);
  } catch (error) {
    if (!(error instanceof UnknownCondition)) throw error;
  }
};

type Grouped = { readonly is: readonly unknown[]; readonly should: readonly unknown[] };

/**
 * The groups of a list contain what its pages do. An item that another check made a moment ago may appear
 * between the two reads: then both are read once more, until the list stays the same.
 */
const checkAggregate = async (
  { stage, checks, kind, path }: Pick<Listing, 'stage' | 'checks' | 'kind' | 'path'>,
  actor: Actor,
  items: readonly Row[],
): Promise<void> => {
  const dimension = dimensionsOf(kind).find(({ def }) => def.values !== undefined);
  const by = dimension === undefined ? '' : `?groupBy=${dimension.name}`;
  const answer = await stage.read(`${path}/aggregate${by}`, actor);
  if (answer.status === 400) {
    const isShown = items.some((item) => dimension !== undefined && dimension.field in item);
    return checks.equal(isShown, false, `${path}/aggregate${by} is refused to ${actor.key}`);
  }
  const { groups = [] } = answer.body as unknown as { readonly groups?: readonly Row[] };
  const { is, should } = groupedBy(dimension?.field, items, groups);
  if (!isDeepStrictEqual(is, should)) {
    const { items: again } = await readPages(stage, actor, `${path}?limit=100`);
    if (!isDeepStrictEqual(idsOf(again), idsOf(items)))
      return checkAggregate({ stage, checks, kind, path }, actor, again);
  }
  checks.equal(is, should, `${path}/aggregate${by} for ${actor.key}`);
};

const groupedBy = (field: string | undefined, items: readonly Row[], groups: readonly Row[]): Grouped => {
  const counted = Map.groupBy(items, (item) => (field === undefined ? null : (item[field] ?? null)));
  const should = [...counted].map(([key, of]) => [key, of.length]);
  const is = groups.map(({ key, count }) => [
    (field === undefined ? null : (key as Row)[field]) ?? null,
    count,
  ]);
  const isNothing = field === undefined && items.length === 0;
  return { is: is.toSorted(inOrder), should: isNothing ? [[null, 0]] : should.toSorted(inOrder) };
};

const inOrder = (one: unknown, other: unknown): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;

/** The list below a parent is hidden with it. */
const isListSeen = (asking: Asking, kind: Kind, state: Row): boolean => {
  const above = parentOf(asking.domain, kind);
  if (above === undefined) return true;
  const parent = asking.find(above.name, state[kind.parent ?? '']);
  return parent !== undefined && mayAs(asking, above, 'read', parent);
};

/** Small pages contain the same aggregates as large ones, once each, and in the declared order. */
const checkPages = async ({ stage, checks, kind, path }: Listing): Promise<void> => {
  const whole = await readPages(stage, stage.admin, `${path}?limit=100`);
  const small = await readPages(stage, stage.admin, `${path}?limit=3`);
  checks.equal(idsOf(small.items), idsOf(whole.items), `${path} in small pages`);
  const times = whole.items.map(({ createdAt, id }) => [String(createdAt), Number(id)] as const);
  const sign = kind.oldestFirst ? 1 : -1;
  const ordered = times.toSorted(([a, one], [b, other]) => (a === b ? one - other : a < b ? -1 : 1) * sign);
  checks.equal(times, ordered, `${path} in its order`);
  const bad = await stage.read(`${path}?unheardOf=1`, stage.admin);
  checks.equal(bad.status, 400, `${path} with an unknown parameter`);
};

const idsOf = (items: readonly Row[]): readonly unknown[] => items.map(({ id }) => id);

const checkFilters = async ({ stage, checks, kind, path }: Listing): Promise<void> => {
  const whole = await readPages(stage, stage.admin, `${path}?limit=100`);
  const states = whole.items.map((item) => stateOf(kind, item));
  const filters = Object.entries(kind.fields).flatMap(([name, def]) => {
    if (def.filter === undefined && name !== kind.owner) return [];
    return [[typeof def.filter === 'string' ? def.filter : name, name] as const];
  });
  for (const [parameter, name] of filters) {
    const values = new Set(states.flatMap((state) => state[name] ?? []).map(String));
    for (const value of values) {
      const { items } = await readPages(
        stage,
        stage.admin,
        `${path}?limit=100&${parameter}=${encodeURIComponent(value)}`,
      );
      const wanted = states
        .filter((state) => [state[name]].flat().map(String).includes(value))
        .map(({ id }) => id);
      checks.equal(idsOf(items), wanted, `${path} with ${parameter} ${value}`);
    }
  }
};
