import type { Domain, Row, ViewInfo } from '#kernel/registry/registry.ts';
import { memberName, orderName } from '../../query/graphql/rules/names.ts';
import { type ViewSource, viewSourcesOf } from '../../query/views/source.ts';
import { freshBody } from './attempts.ts';
import type { Checks } from './checks.ts';
import { mayEver } from './declared.ts';
import { readRows } from './graphql-rows.ts';
import { inOrder, mayReadRow } from './graphql-views.ts';
import { checkBothWays, sizeFor } from './pages.ts';
import { readPages } from './rest-lists.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import { type Actor, isCrowded, requestOf, type Stage } from './stage.ts';

/** The name under which its checks are counted. */
const listed = ({ name }: ViewInfo): string => `lists of ${name}`;
export const viewListsOf = ({ views }: Domain): readonly string[] => views.map(listed);

/** Every reader gets the rows with a right to them, and an administrator those of every order, in pages. */
export const checkViewLists = async (stage: Stage, checks: Checks): Promise<void> => {
  const { domain, found } = stage;
  if (domain.views.length > 0 && !isCrowded(domain)) {
    for (const situation of found.situations) await stage.shared(situation);
    await makeRows(stage);
  }
  // Waits for every earlier write.
  await stage.read('/me', stage.admin);
  for (const source of viewSourcesOf(domain)) await checkLists(stage, checks.of(listed(source.view)), source);
};

const ROWS_EACH = 2;
/** Every caller creates some, with values of their own: rows with different keys, whose order shows. */
const makeRows = async (stage: Stage): Promise<void> => {
  const { domain, actors, admin, ask, session } = stage;
  const kinds = new Set(domain.views.flatMap(({ shares }) => shares.map(({ kind }) => domain.kinds[kind])));
  for (const kind of kinds) {
    const command = Object.values(kind?.commands ?? {}).find((each) => each.kind === 'create');
    if (kind === undefined || kind.parent !== undefined || command === undefined || command.internal)
      continue;
    const [method, path] = requestOf(domain, kind, command, {});
    for (const by of Array.from({ length: ROWS_EACH }, () => actors).flat()) {
      const body = await freshBody(stage, kind, command, { by });
      const { headers } = await ask(method, path, { token: by.token, body });
      const cursor = headers.get('consistency-token');
      if (cursor === null) continue;
      await session.read('/me', { token: admin.token, headers: { 'consistency-token': cursor } });
    }
  }
};

const checkLists = async (stage: Stage, checks: Checks, source: ViewSource): Promise<void> => {
  const rows = await readRows(stage.domain, stage.installation.settings.DATABASE_URL ?? '');
  const seenRows = openSeenRows(stage);
  const readableBy = (actor: Actor): readonly Row[] => {
    const asking = { ...askingAs(stage, seenRows, actor), find: rows.find };
    return rows.ofTable(source.table).filter((row) => mayReadRow(asking, source, row));
  };
  for (const actor of stage.actors) await checkReader({ stage, checks, source }, actor, readableBy(actor));
  if (!mayEver(stage.domain, source.view.asked, 'read', stage.admin.role)) return;
  for (const sort of source.sorts.keys())
    for (const isDescending of [false, true]) {
      const wanted = inOrder(source, readableBy(stage.admin), { sort, isDescending });
      await checkOrder({ stage, checks, source }, { sort, isDescending }, wanted);
    }
};

type Viewing = { readonly stage: Stage; readonly checks: Checks; readonly source: ViewSource };

const checkReader = async (
  { stage, checks, source }: Viewing,
  actor: Actor,
  wanted: readonly Row[],
): Promise<void> => {
  const path = `/${source.view.path}`;
  const { items, status } = await readPages(stage, actor, `${path}?limit=100`);
  const refused = actor.token === undefined ? 401 : 403;
  const isAllowed = mayEver(stage.domain, source.view.asked, 'read', actor.role);
  checks.equal(status, isAllowed ? 200 : refused, `${path} for ${actor.key}`);
  if (!isAllowed) return;
  const known = wanted.map((row) => keyInTable(source, row));
  checks.equal(
    items.map((item) => keyShown(source, item)).toSorted(),
    known.toSorted(),
    `${path} for ${actor.key}`,
  );
};

const checkOrder = async (
  { stage, checks, source }: Viewing,
  { sort, isDescending }: { readonly sort: string; readonly isDescending: boolean },
  rows: readonly Row[],
): Promise<void> => {
  const { view } = source;
  const keys = source.members.slice(0, source.keys.length);
  const size = sizeFor(rows.length);
  const connection = {
    ...{ before: '', after: '', name: `${view.name}Connection` },
    args: `, sort: ${orderName({ name: sort }, isDescending)}`,
    node: keys.map((key) => (key.target ? `${memberName(key)} { id }` : memberName(key))).join(' '),
    keyOf: (node: Row) => keyOf(keys.map((key) => node[memberName(key)])),
  };
  await checkBothWays(
    { stage, checks, by: stage.admin },
    {
      path: `/${view.path}?sort=${isDescending ? '-' : ''}${sort}&limit=${size}`,
      size,
      wanted: rows.map((row) => keyInTable(source, row)),
      keyOf: (item) => keyShown(source, item),
      connection,
    },
  );
};

const keyInTable = ({ keys }: ViewSource, row: Row): string => keyOf(keys.map(({ name }) => row[name]));

const keyShown = ({ view }: ViewSource, item: Row): string =>
  keyOf(Object.keys(view.key).map((name) => item[name]));

/** References are shown with their names. */
const keyOf = (parts: readonly unknown[]): string =>
  JSON.stringify(
    parts.map((part) => String(typeof part === 'object' && part !== null ? (part as Row).id : part)),
  );
