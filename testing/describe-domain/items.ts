import { kebab, targetOf, wire } from '#kernel/base/names.ts';
import type { CommandInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { memberName } from '../../query/graphql/rules/names.ts';
import type { ItemSource } from '../../query/rows/source.ts';
import { sourcesOf } from '../../query/rows/sources.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import { freshBody } from './attempts.ts';
import { type Before, beforeCommand } from './before.ts';
import { isToUser } from './forms.ts';
import { type Actor, type Made, requestOf, type Stage } from './stage.ts';

/** A list of a fixture, and an actor who may add to it. */
export type Filling = {
  readonly stage: Stage;
  readonly made: Made;
  readonly list: ListInfo;
  readonly addition: CommandInfo;
  readonly by: Actor;
};

export const commandOn = (kind: Kind, list: ListInfo, does: CommandInfo['kind']): CommandInfo | undefined =>
  Object.values(kind.commands).find(
    (command) => command.list === list && command.kind === does && !command.internal,
  );

/** Makes a situation in which the search carried out the command. */
export const makeBefore = async (
  stage: Stage,
  kind: Kind,
  command: CommandInfo,
): Promise<(Before & { readonly made: Made }) | undefined> => {
  const [before] = beforeCommand(stage, kind, command);
  return before && { ...before, made: await stage.make(before.situation) };
};

export type Item = Row & { readonly _links: { readonly self: { readonly href: string } } };
export const keyOf = ({ _links: { self } }: Item): string =>
  decodeURIComponent(self.href.split('/').at(-1)?.split('?')[0] ?? '');

export const pathOf = ({ path }: Made, list: ListInfo): string => `${path}/${kebab(list.name)}`;

export const keysIn = async (
  { stage, made, list }: Pick<Filling, 'stage' | 'made' | 'list'>,
  at = '',
): Promise<readonly string[]> => {
  const { status, body } = await stage.readAny<readonly Item[]>(`${pathOf(made, list)}?limit=100${at}`);
  if (status !== 200) throw new Error(`${pathOf(made, list)} was not shown: ${JSON.stringify(body)}`);
  return body.map(keyOf);
};

/** Adds an item that differs from all others. */
export const addItem = async ({ stage, made, list, addition, by }: Filling, taken: readonly string[]) => {
  const { kind } = made.situation;
  const body: Record<string, unknown> = { ...(await freshBody(stage, kind, addition, { by, taken })) };
  if (list.key !== undefined && list.id.def.kind === 'ref')
    body[wire(list.key, list.id.def)] = await freshTarget(stage, list, taken);
  const [method, path] = requestOf(stage.domain, kind, addition, { [`${kind.name}Id`]: made.id });
  const reply = await stage.ask(method, path, { token: by.token, body });
  const cursor = reply.headers.get('consistency-token');
  // The next reader sees the write.
  if (cursor !== null)
    await stage.session.read(made.path, {
      token: stage.admin.token,
      headers: { 'consistency-token': cursor },
    });
  return reply;
};

/** Of users, first those who exist already. */
const freshTarget = async (
  stage: Stage,
  { id: { def } }: ListInfo,
  taken: readonly string[],
): Promise<unknown> => {
  if (!isToUser(def)) {
    const target = stage.found.situations.find(
      ({ kind, later }) => kind.name === targetOf(def) && later.length === 0,
    );
    return target && (await stage.make(target)).id;
  }
  const known = stage.actors.find(({ userId }) => userId !== null && !taken.includes(String(userId)));
  return known?.userId ?? (await stage.people.signUp(`Person ${stage.serial()}`)).userId;
};

export const itemSourceOf = ({ domain }: Stage, kind: Kind, list: ListInfo): ItemSource => {
  const found = sourcesOf(domain)
    .of(kind.name)
    ?.items.find((items) => items.list === list);
  if (found === undefined) throw new RangeError(`${kind.name} has no ${list.name}`);
  return found;
};

/** The field that identifies an item, as GraphQL selects it. */
export const keySelection = ({ list, members: [first] }: ItemSource): string => {
  if (list.key === undefined || first === undefined) return list.id.name;
  return first.target ? `key: ${memberName(first)} { id }` : `key: ${memberName(first)}`;
};
export const keyShown = (node: Row): string => {
  const [value] = Object.values(node);
  return String(typeof value === 'object' && value !== null ? (value as Row).id : value);
};

/** The same by GraphQL. */
export const keysByGraphql = async ({
  stage,
  made,
  list,
}: Pick<Filling, 'stage' | 'made' | 'list'>): Promise<readonly string[]> => {
  const { kind } = made.situation;
  const text = `{ one: ${kind.field}(id: "${made.id}") { items: ${list.name}(limit: 100) { ${keySelection(itemSourceOf(stage, kind, list))} } } }`;
  // Waits until every earlier write is visible.
  await stage.read(made.path, stage.admin);
  const { data, errors } = await graphqlClientOf(stage.installation)<{
    readonly one: { readonly items: readonly Row[] } | null;
  }>(text, {
    token: stage.admin.token,
  });
  if (!data?.one) throw new Error(`${text} was refused: ${JSON.stringify(errors)}`);
  return data.one.items.map(keyShown);
};
