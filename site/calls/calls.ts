import { inspect } from 'node:util';
import { nameToSave } from '#kernel/base/file-type.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Html } from '#shared/html.ts';
import { codeBlock, commandBlock } from '../code/block.ts';
import { tabs } from '../code/tabs.ts';
import type { ShownGraphql } from '../shown-graphql.ts';
import type { Description, Operation } from './description.ts';
import { type Call, type Filling, fillIn, pathOf } from './filling.ts';
import { isOfItem, type Use, useOf } from './use.ts';

type Calls = { readonly curl: string; readonly client: string; readonly graphql: string | undefined };

/** One operation in every language that the pages show. */
export const callsOf = (
  operation: Operation,
  { domain, description, graphql }: Described,
  filling: Filling,
): Calls => {
  const call = fillIn(operation, description, filling);
  const use = useOf(domain, operation.operationId);
  return {
    curl: curlOf(call),
    client: clientCallOf(call, use),
    graphql: graphql?.documentFor(call, use, domain),
  };
};

type Described = {
  readonly domain: Domain;
  readonly description: Description;
  readonly graphql: ShownGraphql | undefined;
};

/** Shows the languages as tabs, with ids that begin with the operation’s. */
export const callTabs = (operation: Operation, described: Described, origin: string): Html => {
  const { curl, client, graphql } = callsOf(operation, described, { origin });
  return tabs(`call-${operation.operationId}`, [
    { name: 'curl', content: commandBlock(curl) },
    { name: 'client', content: codeBlock(client, 'ts') },
    ...(graphql === undefined ? [] : [{ name: 'graphql', content: codeBlock(graphql, 'graphql') } as const]),
  ]);
};

/** The request with curl, with the reader’s token in `$TOKEN`. */
const curlOf = (call: Call): string => {
  const { operation, origin, body, mediaType, needsToken } = call;
  const method = operation.method.toUpperCase();
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const isFile = mediaType !== undefined && body === undefined;
  return [
    `curl ${isImplied ? '' : `-X ${method} `}${origin}${pathOf(call)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(mediaType === undefined ? [] : [`-H 'Content-Type: ${mediaType}'`]),
    ...(body === undefined ? [] : [`-d '${quoted(JSON.stringify(body))}'`]),
    ...(isFile ? [`--data-binary @${nameOfFile(mediaType)}`] : []),
  ].join(' \\\n  ');
};

const nameOfFile = (type: string): string =>
  type.startsWith('image/') ? 'picture.png' : nameToSave({ type, name: null });

/** Escapes text within the single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", "'\\''");

/**
 * The call with `annals/client`, whose methods follow from paths. `client` is the value of `createClient`.
 */
const clientCallOf = (call: Call, use: Use | undefined): string => {
  const id = call.operation.operationId;
  if (id === 'getMe') return 'const me = await client.me();';
  if (id === 'listEvents') return 'const { items, after } = await client.events.list().page();';
  return use === undefined || WITHOUT_METHOD.has(use.does) ? requestOf(call) : collectionCallOf(call, use);
};

/** The client has no methods for these. */
const WITHOUT_METHOD: ReadonlySet<string> = new Set<Use['does']>(['proof', 'readers']);

/** For paths outside the domain’s collections, and reads without a method. */
const requestOf = (call: Call): string => {
  const { method } = call.operation;
  const path = pathOf(call);
  const type = typeOfAnswer(call);
  const body = call.body === undefined ? '' : `, ${literal(call.body)}`;
  if (type !== undefined)
    return `const response = await client.request('${method.toUpperCase()}', '${path}', undefined, { headers: { Accept: '${type}' } });`;
  return `const response = await client.request('${method.toUpperCase()}', '${path}'${body});`;
};

const JSON_TYPE = 'application/json';

/** The media type that a client must request, if the answer is not JSON. */
const typeOfAnswer = ({ operation: { responses } }: Call): string | undefined => {
  const types = Object.keys(responses['200']?.content ?? {});
  return types.includes(JSON_TYPE) ? undefined : types[0];
};

const collectionCallOf = (call: Call, use: Use): string => {
  const parts = call.operation.path.slice(1).split('/');
  if (use.does === 'aggregate')
    return `const { groups, hasMore } = await client.${chainOf(parts.slice(0, -1), call)}.aggregate();`;
  const last = parts.at(-1) ?? '';
  const isId = last.startsWith('{');
  const behind = !isId && isOfItem(use) ? camel(last) : undefined;
  const toItem = behind === undefined ? parts : parts.slice(0, -1);
  const target = isId || behind !== undefined ? toItem.at(-1) : undefined;
  const toCollection = target === undefined ? toItem : toItem.slice(0, -1);
  const [method, ...named] = behind === undefined ? [methodOf(call, isId)] : methodBehind(use, behind);
  const file = use.does === 'putFile' ? ['file'] : [];
  const body = call.body === undefined ? [] : [literal(call.body)];
  const values = [...(target === undefined ? [] : [idIn(target, call)]), ...named, ...file, ...body];
  const listed = PAGED.has(use.does) ? '.page()' : '';
  const chain = chainOf(toCollection, call);
  return `${resultOf(call, use)}await client.${chain}.${method}(${values.join(', ')})${listed};`;
};

const chainOf = (parts: readonly string[], call: Call): string =>
  parts.map((part) => (part.startsWith('{') ? `of(${idIn(part, call)})` : camel(part))).join('.');

const PAGED: ReadonlySet<string> = new Set(['list', 'listOfUser', 'listItems', 'history']);

const METHODS = {
  list: { get: 'list', post: 'create' },
  item: { get: 'get', patch: 'edit', put: 'replace', delete: 'delete' },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

const methodOf = ({ operation: { method, path } }: Call, isId: boolean): string => {
  const methods: Readonly<Record<string, string>> = isId ? METHODS.item : METHODS.list;
  const name = methods[method];
  if (name === undefined) throw new Error(`the client has no method for ${method} ${path}`);
  return name;
};

/** The methods of collections; a command with one of these names is called through `command`. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.values(METHODS.list),
  ...Object.values(METHODS.item),
  ...['history', 'find', 'aggregate', 'add', 'remove', 'putFile', 'deleteFile', 'command', 'of'],
]);

const methodBehind = ({ does }: Use, name: string): readonly [method: string, ...named: string[]] => {
  if (does === 'putFile') return ['putFile', `'${name}'`];
  if (does === 'removeFile') return ['deleteFile', `'${name}'`];
  return does === 'command' && TAKEN.has(name) ? ['command', `'${name}'`] : [name];
};

const NO_CONTENT = '204';

const resultOf = ({ operation: { responses } }: Call, { does }: Use): string => {
  if (PAGED.has(does)) return 'const { items, after } = ';
  if (does === 'read' || does === 'readItem') return 'const item = ';
  const isAnswered = Object.keys(responses).some((status) => status.startsWith('2') && status !== NO_CONTENT);
  return isAnswered ? 'const written = ' : '';
};

const idIn = (part: string, { ids }: Call): string => {
  const id = ids[part.slice(1, -1)];
  return typeof id === 'number' ? String(id) : `'${id}'`;
};

/** The client’s spelling of path segments: `line-items` becomes `lineItems`. */
const camel = (name: string): string =>
  name.replaceAll(/-([a-z])/g, (_whole, letter: string) => letter.toUpperCase());

const LINE_CHARACTERS = 80;
const literal = (value: JsonObject): string => inspect(value, { depth: null, breakLength: LINE_CHARACTERS });
