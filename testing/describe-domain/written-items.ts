import { kebab, wire } from '#kernel/base/names.ts';
import { fieldsOfItem } from '#kernel/conditions/expression.ts';
import type { CommandInfo, EventInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { freshBody } from './attempts.ts';
import type { Checks } from './checks.ts';
import { stateOf } from './seen-rows.ts';
import { type Actor, type Made, requestOf, type Stage } from './stage.ts';

type Writing = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly made: Made;
  readonly by: Actor;
  readonly list: ListInfo;
};

/**
 * An item as it is read after a command added or changed it: the form as sent, and the values that the event
 * sets. Refusals by the state are compared in the checks of links.
 */
export const checkWrittenItem = async (
  writing: Omit<Writing, 'list'>,
  command: CommandInfo,
): Promise<void> => {
  const { stage, made, by } = writing;
  const { list, events, decide } = command;
  const [event] = events;
  if (list === undefined || event?.item === undefined || decide !== undefined) return;
  const { kind } = made.situation;
  const isAddition = command.kind === 'addItem';
  const first = isAddition ? undefined : await firstIn(writing, kind, list);
  if (!isAddition && first === undefined) return;
  const ids = { [`${kind.name}Id`]: made.id, [list.id.name]: first };
  const [method, path] = requestOf(stage.domain, kind, command, ids);
  const body = (await freshBody(stage, kind, command, { by })) ?? {};
  const reply = await stage.ask(method, path, {
    token: by.token,
    ...(Object.keys(body).length > 0 && { body }),
  });
  if (reply.status >= 300) return;
  const id = first ?? (reply.body as Row)[list.id.name];
  const item = await readAfter({ ...writing, list }, reply, id);
  compare({ ...writing, list }, { command, event, body, item });
  if (command.kind === 'changeItem') await checkPatched({ ...writing, list }, { command, event, path, id });
};

/** A JSON patch stores what it sends, and nothing else. */
const checkPatched = async (
  writing: Writing,
  {
    command,
    event,
    path,
    id,
  }: Pick<Written, 'command' | 'event'> & { readonly path: string; readonly id: unknown },
): Promise<void> => {
  const { stage, made, by, list, checks } = writing;
  const body = (await freshBody(stage, made.situation.kind, command, { by })) ?? {};
  const operations = Object.entries(body).map(([name, value]) => ({
    op: 'replace',
    path: `/${name}`,
    value,
  }));
  const type = 'application/json-patch+json';
  const reply = await stage.ask('PATCH', path, { token: by.token, body: operations, type });
  checks.equal(reply.status, 200, `a JSON patch by ${command.name}: ${JSON.stringify(reply.body)}`);
  const item = await readAfter(writing, reply, id);
  compare(writing, { command, event, body, item });
  const fixed = [{ op: 'replace', path: `/${list.key ?? 'id'}`, value: 7_777_777 }];
  const refused = await stage.ask('PATCH', path, { token: by.token, body: fixed, type });
  checks.equal(refused.status, 422, `a JSON patch of the id by ${command.name}`);
};

const readAfter = async (
  { stage, made, list }: Writing,
  { headers }: { readonly headers: Headers },
  id: unknown,
): Promise<Row> => {
  const path = `${made.path}/${kebab(list.name)}/${encodeURIComponent(String(id))}`;
  const { body } = await stage.readAny<Row>(path, {
    'consistency-token': headers.get('consistency-token') ?? '',
  });
  return body;
};

const firstIn = async ({ stage, made }: Pick<Writing, 'stage' | 'made'>, kind: Kind, list: ListInfo) => {
  const { body } = await stage.readAny<readonly Row[]>(`${made.path}/${kebab(list.name)}?limit=1`);
  const [item] = Array.isArray(body) ? body : [];
  return item && (list.key === undefined ? item.id : stateOf(withItems(kind, list), item)[list.key]);
};

const withItems = (kind: Kind, list: ListInfo): Kind => ({ ...kind, fields: fieldsOfItem(list) });

type Written = {
  readonly command: CommandInfo;
  readonly event: EventInfo;
  readonly body: Row;
  readonly item: Row;
};

const compare = ({ checks, made, by, list }: Writing, { command, event, body, item }: Written): void => {
  const { kind } = made.situation;
  const state = stateOf(withItems(kind, list), item);
  const what = (name: string): string => `${name} of ${list.one} after ${command.name} of ${kind.name}`;
  for (const name of command.itemForm)
    checks.equal(state[name], body[wire(name, list.fields[name])] ?? null, what(name));
  for (const [name, value] of Object.entries(event.item?.sets ?? {}))
    if (value === 'now') checks.equal(typeof state[name], 'string', what(name));
    else checks.equal(state[name], value === 'caller' ? by.userId : value, what(name));
};
