import type { CommandFacts, FormFieldFacts, KindFacts } from '../../domain-facts.ts';
import { type Item, type Link, possibleOf } from './links.ts';

type Language = 'curl' | 'TypeScript' | 'GraphQL';
/** The same request, as it is written in each language that serves it. */
export type ItemRequest = { readonly title: string } & Partial<Readonly<Record<Language, string>>>;

type RequestsOptions = {
  readonly kind: KindFacts;
  readonly item: Item;
  readonly etag: string | undefined;
  readonly origin: string;
};

/** The read of an item, and its commands that are possible now, by the links of the item. */
export const requestsOf = ({ kind, item, etag, origin }: RequestsOptions): readonly ItemRequest[] => {
  const address = `${origin}/${kind.path}/${item.id}`;
  const collection = `client.${camel(kind.path)}`;
  const { graphql } = kind;
  return [
    {
      title: 'Read it',
      curl: curl({ method: 'GET', address }),
      TypeScript: `const item = await ${collection}.get(${item.id});`,
      ...(graphql && { GraphQL: `{ ${graphql.field}(id: "${item.id}") { ${graphql.selection} } }` }),
    },
    ...possibleOf(kind, item._links).map((command) => {
      const link = item._links[command.rel] as Link;
      const body = exampleOf(command, item);
      const hasReason = command.form.some(({ isReason, isRequired }) => isReason && isRequired);
      const args = [item.id, ...(body ? [literal(body)] : []), ...(hasReason ? ["{ reason: 'Why' }"] : [])];
      return {
        title: command.title,
        curl: curl({
          ...{ method: link.method ?? 'POST', address: new URL(link.href, origin).href },
          ...{ body, etag, hasReason },
        }),
        TypeScript: `await ${collection}.${methodOf(link, item)}(${args.join(', ')});`,
      };
    }),
  ];
};

const camel = (path: string): string =>
  path.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The client has the last word of the path as a method, and names of its own for the item itself. */
const methodOf = ({ href, method }: Link, { id }: Item): string => {
  const last = href.split('/').at(-1) ?? '';
  if (last !== String(id)) return camel(last);
  return method === 'DELETE' ? 'delete' : method === 'PUT' ? 'replace' : 'edit';
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

type Sent = {
  readonly method: string;
  readonly address: string;
  readonly body?: object | undefined;
  readonly etag?: string | undefined;
  readonly hasReason?: boolean;
};

const curl = ({ method, address, body, etag, hasReason = false }: Sent): string =>
  [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(address)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(etag && method !== 'GET' ? [`-H ${quoted(`If-Match: ${etag}`)}`] : []),
    ...(hasReason ? ["-H 'Reason: Why'"] : []),
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`] : []),
  ].join(' \\\n  ');

const literal = (body: object): string =>
  `{ ${Object.entries(body)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ')} }`;

/** A change names one field with its present value; other commands name what they require. */
const exampleOf = ({ does, form }: CommandFacts, item: Item): object | undefined => {
  const fields = form.filter(({ type, isReason }) => type !== 'upload' && !isReason);
  const isEdit = does === 'edit';
  const named = isEdit
    ? fields.filter(({ wire }) => item[wire] !== undefined && item[wire] !== null).slice(0, 1)
    : fields.filter(({ isRequired }) => isRequired);
  const entries = named.map((field) => [field.wire, isEdit ? item[field.wire] : valueFor(field)]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

const DAY = '2026-01-31';

const valueFor = ({ type, values, schema }: FormFieldFacts): unknown => {
  switch (type) {
    case 'integer':
      return schema.minimum ?? 1;
    case 'ref':
      return 1;
    case 'boolean':
      return true;
    case 'date':
      return DAY;
    case 'instant':
      return `${DAY}T12:00:00Z`;
    case 'set':
      return [];
    default:
      return values?.[0] ?? '…';
  }
};
