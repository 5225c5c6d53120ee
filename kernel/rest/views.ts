import * as z from 'zod';
import type { JsonObject } from '../base/json.ts';
import { capital, column, oneOf, spaced, wire } from '../base/names.ts';
import type { Operation } from '../base/operation.ts';
import { notFound } from '../base/rejection.ts';
import { Links } from '../base/rest/fields.ts';
import { PAGE, sortBy } from '../base/rest/lists.ts';
import type { PathParameter, RestOperation } from '../base/rest/operation.ts';
import { operationOf } from '../conditions/rights.ts';
import type { FieldDef } from '../declare/fields.ts';
import { exampleOfPart } from '../events/definitions.ts';
import { serves } from '../registry/parts.ts';
import type { Defs, Domain, ViewInfo } from '../registry/registry.ts';
import { shownExample } from './examples.ts';
import { filterSchema } from './filters.ts';
import { shownField, shownName } from './schemas.ts';

export type ViewOperation = RestOperation & {
  readonly reads: { readonly view: ViewInfo; readonly does: 'list' | 'item' };
};

/** The REST interface to the views of a domain: a page of rows, and a row by key. */
export const viewOperations = (
  domain: Domain,
): readonly (readonly [id: string, operation: ViewOperation])[] => {
  const isStreamed = serves(domain, 'streams');
  return domain.views.flatMap((view) => {
    const { name, path, key } = view;
    const schema = rowSchema(domain, view);
    const read = {
      method: 'GET',
      role: 'query',
      right: operationOf(view.asked, 'read') as Operation,
    } as const;
    const parts = Object.entries(key);
    const list: ViewOperation = {
      ...read,
      path: `/${path}`,
      summary: view.says ?? `The ${spaced(name)} that you may read`,
      query: z.strictObject({ ...PAGE, ...filtersOf(view) }),
      answer: {
        status: 200,
        description: `A page of ${spaced(name)}${isStreamed ? ', or a stream of its rows' : ''}.`,
        kind: 'list',
        schema,
        ...(isStreamed && { isStreamed: STREAM }),
      },
      reads: { view, does: 'list' },
    };
    const item: ViewOperation = {
      ...read,
      path: `/${path}/${parts.map(([part, def]) => `{${wire(part, def)}}`).join('/')}`,
      parameters: Object.fromEntries(
        parts.map(([part, def]) => [wire(part, def), parameterOf(domain, name, def)]),
      ),
      summary: `${capital(spaced(name))} of ${new Intl.ListFormat('en-GB').format(parts.map(([part]) => oneOf(part)))}`,
      answer: { status: 200, description: `The row with this key.`, kind: 'item', schema },
      reads: { view, does: 'item' },
    };
    return [
      [`list${capital(name)}`, list],
      [`get${capital(name)}`, item],
    ] as const;
  });
};

const STREAM =
  'Each message has JSON as `data`: its `type` is `reset` (discard all rows: the following messages have all rows that you may read), `changed` with a `key` and its current `row`, or `removed` with a `key`. Its `id` is a cursor: send it as `Last-Event-ID` or `after` to continue.';

/** The query parameters of the stream of a view. */
export const followedView = (view: ViewInfo): z.ZodObject => {
  const { sort, ...filters } = filtersOf(view);
  return z.strictObject({ after: PAGE.after, ...filters });
};

/** The key of a row, by name of the filter. */
export const keyOfRow = ({ key }: ViewInfo, row: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(key).map(([part, def]) => [part, row[column(part, def)]])) as JsonObject;

/** All fields of a row, the key first. */
export const fieldsOfView = ({ key, values }: ViewInfo): Defs => ({
  ...key,
  ...Object.fromEntries(Object.entries(values).map(([name, { def }]) => [name, def])),
});

const rowSchema = (domain: Domain, view: ViewInfo): z.ZodObject => {
  const fields = Object.entries(fieldsOfView(view)).map(([name, def]) => shownField(domain, name, def));
  return z.strictObject({ ...Object.fromEntries(fields), _links: Links }).meta({ id: capital(view.name) });
};

/** The orders of its lists: the key, and the values with `sort()`. */
export const sortsOfView = ({ key, values }: ViewInfo): readonly string[] => [
  ...Object.keys(key).slice(0, 1),
  ...Object.entries(values).flatMap(([name, { def }]) => (def.sort ? [name] : [])),
];

const filtersOf = (view: ViewInfo): Readonly<Record<string, z.ZodType>> => {
  const [first = '', ...others] = sortsOfView(view).flatMap((name) => [name, `-${name}`]);
  const filters = Object.entries(view.key).map(
    ([part, def]) => [part, filterSchema(def).optional()] as const,
  );
  return { ...Object.fromEntries(filters), sort: sortBy(first, ...others) };
};

const parameterOf = (domain: Domain, view: string, def: FieldDef): PathParameter => ({
  schema: def.recorded,
  example: exampleOfPart(domain, def),
  absent: notFound(view),
  read: (text) => partIn(def, text) as number | string | undefined,
});

const NUMBER = /^(?:0|-?[1-9]\d{0,15})$/;

/** Parses a part of a key in a path; undefined if no row can have it. Each value has one spelling. */
export const partIn = (def: FieldDef, text: string): number | string | boolean | undefined => {
  const value =
    def.kind === 'boolean'
      ? BOOLEANS.get(text)
      : isNumber(def)
        ? NUMBER.test(text)
          ? Number(text)
          : undefined
        : text;
  const { success, data } = def.recorded.safeParse(value);
  return success && !text.includes('\u0000') ? (data as number | string | boolean) : undefined;
};

const isNumber = ({ kind }: FieldDef): boolean => kind === 'ref' || kind === 'integer';
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** The path of a row, from the parts of its key. */
export const rowPath = ({ path }: ViewInfo, parts: readonly unknown[]): string =>
  [`/${path}`, ...parts.map((part) => encodeURIComponent(String(part)))].join('/');

export const exampleOfView = (domain: Domain, view: ViewInfo): JsonObject => {
  const shown = Object.entries(fieldsOfView(view)).map(([name, def]) => [
    shownName(domain, name, def),
    shownExample(domain, { ...def, optional: false }),
  ]);
  const parts = Object.values(view.key).map((def) => {
    const value = shownExample(domain, def);
    return typeof value === 'object' && value !== null && 'id' in value ? value.id : value;
  });
  return { ...Object.fromEntries(shown), _links: { self: { href: rowPath(view, parts) } } } as JsonObject;
};
