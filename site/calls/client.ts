import { inspect } from 'node:util';
import type { JsonObject } from '#kernel/base/json.ts';
import { type Call, pathOf } from './filling.ts';
import { isOfItem, type Use } from './use.ts';

/**
 * The call with `annals/client`, whose methods follow from paths. `client` is the value of `createClient`.
 */
export const clientCallOf = (call: Call, use: Use | undefined): string => {
  const id = call.operation.operationId;
  if (id === 'getMe') return 'const me = await client.me();';
  if (id === 'listEvents') return 'const { items, after } = await client.events.list().page();';
  return use === undefined ? requestOf(call) : collectionCallOf(call, use);
};

/** For paths outside the domain’s collections. */
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
  const last = parts.at(-1) ?? '';
  const isId = last.startsWith('{');
  const behind = !isId && isOfItem(use) ? camel(last) : undefined;
  const toItem = behind === undefined ? parts : parts.slice(0, -1);
  const target = isId || behind !== undefined ? toItem.at(-1) : undefined;
  const toCollection = target === undefined ? toItem : toItem.slice(0, -1);
  const chain = toCollection.map((part) => (part.startsWith('{') ? `of(${idIn(part, call)})` : camel(part)));
  const [method, ...named] = behind === undefined ? [methodOf(call, isId)] : methodBehind(use, behind);
  const file = use.does === 'putFile' ? ['file'] : [];
  const body = call.body === undefined ? [] : [literal(call.body)];
  const values = [...(target === undefined ? [] : [idIn(target, call)]), ...named, ...file, ...body];
  const listed = PAGED.has(use.does) ? '.page()' : '';
  return `${resultOf(call, use)}await client.${[...chain, method].join('.')}(${values.join(', ')})${listed};`;
};

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
  ...['history', 'find', 'add', 'remove', 'putFile', 'deleteFile', 'command', 'of'],
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
