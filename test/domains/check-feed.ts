// Over 200 lines, because it is one check: the feed of a reader, folded, is what they read.
import { kebab, wire } from '#kernel/base/names.ts';
import type { EventInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import type { Checks } from '../../testing/describe-domain/checks.ts';
import type { Actor, Stage } from '../../testing/describe-domain/stage.ts';

/** An event as the feed shows it. */
type Shown = {
  readonly type: string;
  readonly at: string;
  readonly cursor: string;
  readonly subject: string;
  readonly actor: string | null;
  readonly data: Row;
};
type Item = Row & { readonly id: unknown };
type Folded = {
  readonly events: number;
  readonly isEnded: boolean;
  readonly fields: Row;
  readonly lists: Readonly<Record<string, readonly Item[]>>;
};

/**
 * A consumer who folds the events of the feed as the declaration says, without the code of the kernel, has what
 * the items show; for everybody, of every aggregate of which they see each event.
 */
export const checkFeed = async (stage: Stage, checks: Checks): Promise<void> => {
  const firsts = new Map(stage.found.situations.map((situation) => [situation.alike, situation]));
  for (const situation of [...firsts.values()].slice(0, MADE_MAX)) await stage.make(situation);
  for (const actor of stage.actors)
    if (actor.token !== undefined)
      for (const [subject, folded] of foldFeed(stage, await feedOf(stage, actor)))
        await compare({ stage, checks, actor }, subject, folded);
};
const MADE_MAX = 8;

const PAGE = 100;
const feedOf = async (stage: Stage, actor: Actor): Promise<readonly Shown[]> => {
  const all: Shown[] = [];
  for (let after = ''; ; after = `&after=${all.at(-1)?.cursor}`) {
    const { body } = await stage.read<readonly Shown[]>(`/events?limit=${PAGE}${after}`, actor);
    all.push(...body);
    if (body.length === 0) return all;
  }
};

const foldFeed = ({ domain }: Stage, events: readonly Shown[]): ReadonlyMap<string, Folded> => {
  const all = new Map<string, Folded>();
  for (const shown of events) {
    const [kindName = ''] = shown.subject.split('-');
    const kind = domain.kinds[kindName];
    const event = kind?.events[shown.type.slice(kindName.length + 1)];
    if (kind === undefined || event === undefined) continue;
    const before = all.get(shown.subject) ?? { events: 0, isEnded: false, fields: {}, lists: {} };
    all.set(shown.subject, { ...apply(kind, event, before, shown), events: before.events + 1 });
  }
  return all;
};

const apply = (kind: Kind, event: EventInfo, before: Folded, shown: Shown): Folded => {
  const { effect, list } = event;
  const { data, at } = shown;
  if (effect === 'ends') return { ...before, isEnded: true };
  const seen = { ...before, fields: { ...before.fields, updatedAt: at } };
  if (effect === 'notes') return seen;
  const set = { ...seen.fields, ...setBy(event, shown) };
  if (list !== undefined) {
    const items = itemsAfter(list, effect, seen.lists[list.name] ?? [], data);
    return { ...seen, fields: set, lists: { ...seen.lists, [list.name]: items } };
  }
  const first = effect === 'creates' ? { ...initialOf(kind), createdAt: at, id: data[`${kind.name}Id`] } : {};
  const given: Record<string, unknown> = {};
  for (const name of new Set([...kind.identity, ...event.values])) {
    const value = data[wire(name, kind.fields[name])];
    if (value !== undefined) given[name] = value;
  }
  return { ...seen, fields: { ...first, ...set, ...given, ...setBy(event, shown) } };
};

const initialOf = (kind: Kind): Row =>
  Object.fromEntries(Object.entries(kind.fields).map(([name, { initial = null }]) => [name, initial]));

const setBy = ({ sets }: EventInfo, { at, actor }: Shown): Row =>
  Object.fromEntries(
    Object.entries(sets).map(([name, value]) => [
      name,
      value === 'now'
        ? at
        : value === 'caller'
          ? actor?.startsWith('user:')
            ? Number(actor.slice('user:'.length))
            : null
          : value,
    ]),
  );

const itemsAfter = (
  { id, fields }: ListInfo,
  effect: string,
  before: readonly Item[],
  data: Row,
): readonly Item[] => {
  const known = data[id.name];
  const others = before.filter((item) => item.id !== known);
  if (effect === 'removes') return others;
  const values = Object.fromEntries(
    Object.entries(fields).flatMap(([name, def]) => {
      const value = data[wire(name, def)];
      if (value !== undefined) return [[name, value]];
      return effect === 'adds' ? [[name, def.initial ?? null]] : [];
    }),
  );
  const former = before.find((item) => item.id === known);
  return [...others, { ...former, ...values, id: known }];
};

const idOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as Row).id : value;

type Comparing = { readonly stage: Stage; readonly checks: Checks; readonly actor: Actor };

const compare = async (
  { stage, checks, actor }: Comparing,
  subject: string,
  folded: Folded,
): Promise<void> => {
  const [name = '', id = ''] = subject.split('-');
  const kind = stage.domain.kinds[name] as Kind;
  const path = `/${kind.path}/${id}`;
  const { status, body, headers } = await stage.read(path, actor);
  const version = Number(/^"(\d+)-/.exec(headers.get('etag') ?? '')?.[1] ?? 0);
  if (folded.isEnded)
    return checks.equal(status >= 400, true, `${actor.key} reads ${path} after its end: ${status}`);
  // Somebody who may read it only since some event has not seen the earlier ones.
  if (status !== 200 || version !== folded.events) return;
  const fields = { ...folded.fields, ...derivedFrom(kind, folded) };
  const known = (row: Row): Row => omit(row, givenUnseen(kind, folded.fields));
  checks.equal(
    known(shownOf(kind, body)),
    known(expectedOf(kind, fields, body)),
    `the fold of ${path} by ${actor.key}`,
  );
  for (const list of Object.values(kind.lists)) {
    const items = await stage.read<readonly Row[]>(`${path}/${kebab(list.name)}?limit=${PAGE}`, actor);
    if (items.status !== 200) continue;
    const wanted = new Map((folded.lists[list.name] ?? []).map((item) => [item.id, item]));
    // Somebody may see each event of a list, but only some of its items.
    if (Object.values(kind.fieldRights).every(({ items }) => !Object.hasOwn((items ?? {}) as Row, list.name)))
      checks.equal(
        items.body.map((item) => itemIdOf(list, item)).toSorted(),
        [...wanted.keys()].toSorted(),
        `the ids of ${list.name} of ${path} by ${actor.key}`,
      );
    for (const item of items.body) {
      const one = wanted.get(itemIdOf(list, item)) ?? {};
      checks.equal(
        shownIn(list.fields, item),
        expectedIn(list.fields, one, item),
        `the fold of ${list.name} of ${path} by ${actor.key}`,
      );
    }
  }
};

const itemIdOf = ({ key, id }: ListInfo, item: Row): unknown =>
  key === undefined ? item.id : idOf(item[key] ?? item[id.name]);

/** Numbers of items, and sums of their fields. */
const derivedFrom = (kind: Kind, { lists }: Folded): Row =>
  Object.fromEntries(
    kind.derived.map(({ name, list, field }) => {
      const items = lists[list.name] ?? [];
      return [
        name,
        field === undefined ? items.length : items.reduce((sum, item) => sum + Number(item[field]), 0),
      ];
    }),
  );

const TIMES = ['createdAt', 'updatedAt'];
const shownOf = (kind: Kind, body: Row): Row => ({ ...shownIn(kind.fields, body), ...pick(body, TIMES) });
const expectedOf = (kind: Kind, folded: Row, body: Row): Row => ({
  ...expectedIn(kind.fields, folded, body),
  ...pick(
    folded,
    TIMES.filter((name) => name in body),
  ),
});
/** The right to a guarded field may begin after the event that gave its value. */
const givenUnseen = (kind: Kind, folded: Row): readonly string[] =>
  Object.values(kind.fieldRights)
    .flatMap(({ reads }) => (reads ?? []) as readonly string[])
    .filter((name) => (folded[name] ?? null) === (kind.fields[name]?.initial ?? null));

const omit = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

const pick = (from: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

type Defs = Kind['fields'];

/** References as their ids; nothing of fields that the reader may not read. */
const shownIn = (defs: Defs, body: Row): Row =>
  Object.fromEntries(
    Object.entries(defs).flatMap(([name, def]) => {
      const value = body[name] ?? body[wire(name, def)];
      if (value === undefined) return name in body ? [[name, null]] : [];
      return [[name, def.kind === 'ref' ? idOf(value) : value]];
    }),
  );
const expectedIn = (defs: Defs, folded: Row, body: Row): Row =>
  Object.fromEntries(Object.keys(shownIn(defs, body)).map((name) => [name, folded[name]]));
