import type { CommandInfo, Domain, Kind, Row, ViewInfo } from '#kernel/registry/registry.ts';
import { viewSourcesOf } from '../../query/views/source.ts';
import { inDatabase } from '../database/search-everywhere.ts';
import { follow } from '../http/event-source.ts';
import { until } from '../until.ts';
import type { Checks } from './checks.ts';
import { giverOf } from './seen-rows.ts';
import { statesIn } from './situations.ts';
import { type Made, requestOf, type Stage } from './stage.ts';

/** The name under which its checks are counted. */
const followed = ({ name }: ViewInfo): string => `who follows ${name}`;
const ended = ({ name }: ViewInfo, kind: string): string =>
  `what is left in ${name} of a ${kind} that has ended`;

const endOf = ({ commands }: Kind): CommandInfo | undefined =>
  Object.values(commands).find(({ kind, internal }) => kind === 'end' && !internal);
const summed = ({ values }: ViewInfo): readonly string[] =>
  Object.entries(values).flatMap(([name, { kind }]) => (kind === 'sum' ? [name] : []));
/** The values that are compared; references and texts are shown in other forms. */
const compared = ({ values }: ViewInfo): readonly string[] =>
  Object.entries(values).flatMap(([name, { kind }]) => (kind === 'latest' ? [] : [name]));

const sharesOf = (domain: Domain, view: ViewInfo): readonly Kind[] =>
  view.shares.flatMap((share) => {
    const kind = domain.kinds[share.kind];
    return kind === undefined ||
      endOf(kind) === undefined ||
      summed(view).length === 0 ||
      Object.values(share.by).includes('id')
      ? []
      : [kind];
  });

export const viewChecksOf = (domain: Domain): readonly string[] =>
  domain.views.flatMap((view) => [
    followed(view),
    ...sharesOf(domain, view)
      .filter((kind) => isInFromTheStart(view, kind))
      .map((kind) => ended(view, kind.name)),
  ]);

/** An aggregate that enters a view later may be unable to end by then. */
const isInFromTheStart = ({ shares }: ViewInfo, { name, events }: Kind): boolean =>
  shares.some(
    ({ kind, on }) =>
      kind === name &&
      Object.entries(on).some(([event, { kind }]) => kind === 'gives' && events[event]?.effect === 'creates'),
  );

/**
 * A subscriber’s copy of a view finally equals its table. A row that an aggregate gave to the view is removed
 * when the aggregate ends.
 */
export const checkViews = async (stage: Stage, checks: Checks): Promise<void> => {
  await using open = new AsyncDisposableStack();
  const copies = await Promise.all(stage.domain.views.map((view) => openCopy(stage, open, view)));
  for (const view of stage.domain.views)
    for (const kind of sharesOf(stage.domain, view))
      await checkEnded(stage, checks.of(ended(view, kind.name)), { view, kind });
  for (const { view, rows } of copies) {
    const look = async () => ({ received: rows(), there: await rowsOf(stage, view) });
    const { received, there } = await until(
      look,
      (seen) => JSON.stringify(seen.received) === JSON.stringify(seen.there),
    ).catch(look);
    checks.of(followed(view)).equal(received, there, `the copy of a subscriber to ${view.name}`);
    checks.of(followed(view)).equal(received.length > 0, true, `something is in ${view.name}`);
  }
};

type Message = { readonly type: string; readonly key?: Row; readonly row?: Row };
type Copy = { readonly view: ViewInfo; readonly rows: () => readonly string[] };

/** The copy of a subscriber that follows the messages. */
const openCopy = async (
  { installation, admin }: Stage,
  open: AsyncDisposableStack,
  view: ViewInfo,
): Promise<Copy> => {
  const stream = await follow(`${installation.url}/${view.path}`, {
    headers: { authorization: `Bearer ${admin.token}` },
  });
  open.defer(() => stream.close());
  return {
    view,
    rows() {
      const rows = new Map<string, string>();
      for (const { data } of stream.messages) {
        const { type, key, row } = JSON.parse(data) as Message;
        if (type === 'reset') rows.clear();
        if (type === 'removed') rows.delete(JSON.stringify(key));
        if (type === 'changed') rows.set(JSON.stringify(key), JSON.stringify([key, numbersIn(view, row)]));
      }
      return [...rows.values()].toSorted();
    },
  };
};

const numbersIn = (view: ViewInfo, row: Row = {}): readonly unknown[] =>
  compared(view).map((name) => {
    const value = row[name] ?? null;
    const type = view.values[name]?.def.column;
    if (value === null || type === 'date') return value;
    return type === 'timestamptz' ? Date.parse(String(value)) : Number(value);
  });

/** Of the table itself. */
const rowsOf = async ({ installation, domain }: Stage, view: ViewInfo): Promise<readonly string[]> => {
  const source = viewSourcesOf(domain).find((each) => each.view === view);
  if (source === undefined) return [];
  const { rows } = await inDatabase(installation.settings.DATABASE_URL ?? '', (client) =>
    client.query<{ row: Row }>(`select row_to_json(t) as row from ${source.table} t`),
  );
  const read = (row: Row, names: readonly string[]): Row =>
    Object.fromEntries(
      names.map((name) => [name, row[source.members.find((member) => member.name === name)?.column ?? '']]),
    );
  const keys = Object.keys(view.key);
  return rows
    .map(({ row }) => JSON.stringify([read(row, keys), numbersIn(view, read(row, compared(view)))]))
    .toSorted();
};

type Sharing = { readonly view: ViewInfo; readonly kind: Kind };

/** Makes it twice, so that its references exist already the second time and nothing else changes. */
const checkEnded = async (stage: Stage, checks: Checks, { view, kind }: Sharing): Promise<void> => {
  const end = endOf(kind);
  const byState = new Map(
    stage.found.situations.flatMap((situation) =>
      situation.kind === kind && situation.later.length === 0 ? [[statesIn(situation), situation]] : [],
    ),
  );
  for (const situation of byState.values()) {
    if (end === undefined) continue;
    const before = await settled(stage, view, await stage.shared(situation));
    const made = await stage.make(situation);
    const between = await settled(stage, view, made);
    const by = await giverOf(stage, made, end.name);
    const [method, path] = requestOf(stage.domain, kind, end, { [`${kind.name}Id`]: made.id });
    const { status, headers } = await stage.ask(method, path, { token: by.token });
    if (status >= 300) continue;
    await stage.session.read(made.path, {
      token: stage.admin.token,
      headers: { 'consistency-token': headers.get('consistency-token') ?? '' },
    });
    const after = await rowsOf(stage, view);
    const isOfThese = before.some((row) => !between.includes(row));
    if (isOfThese)
      checks.equal(
        before.filter((row) => !after.includes(row)),
        [],
        `the rows of ${view.name} once ${situation.name} has ended`,
      );
  }
};

/** Waits for every earlier write. */
const settled = async (stage: Stage, view: ViewInfo, made: Made): Promise<readonly string[]> => {
  await stage.read(made.path, stage.admin);
  return rowsOf(stage, view);
};
