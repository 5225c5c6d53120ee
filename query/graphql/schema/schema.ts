import { readdirSync, readFileSync } from 'node:fs';
import {
  buildASTSchema,
  concatAST,
  type DocumentNode,
  GraphQLScalarType,
  type GraphQLSchema,
  Kind,
  parse,
} from 'graphql';
import { instant } from '#kernel/base/instant.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { day } from '#kernel/base/values.ts';
import { inWordsOf } from '#kernel/registry/example-kind.ts';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { demandUpload } from '../uploads/upload.ts';
import { domainSdl, filterSdl } from './domain-sdl.ts';

/** A syntactically valid representation: an object that names its type. */
const demandRepresentation = (value: unknown): unknown => {
  if (
    typeof value === 'object' &&
    value !== null &&
    '__typename' in value &&
    typeof value.__typename === 'string'
  )
    return value;
  throw new TypeError('A representation must be an object with a __typename.');
};

const FOLDER = new URL('./', import.meta.url);

/** Instants stay text all the way: the read model returns RFC 3339. */
const demandInstant = (value: unknown): string => {
  if (typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value))) return value;
  throw new TypeError('A DateTime is RFC 3339 in UTC with milliseconds.');
};
/** Normalizes any RFC 3339 spelling to the one of our answers. */
const readInstant = (value: unknown): string => {
  const { data } = instant.safeParse(value);
  if (data !== undefined) return new Date(data).toISOString();
  throw new TypeError('A DateTime is a time in the format of RFC 3339, in the years 1 to 9999.');
};
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const demandDay = (value: unknown): string => {
  const { data } = day.safeParse(value);
  if (data !== undefined) return data;
  throw new TypeError('A Date is a day, such as 2026-01-31.');
};

/** Any text; its use checks whether it is a cursor of this log. */
const demandText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  throw new TypeError('A Cursor is a string from an earlier response.');
};

const takeAny = (value: unknown): unknown => value;

/** Extend the types of other files. */
const OF_PARTS: ReadonlyMap<string, PartName> = new Map([
  ['delivery.graphql', 'webhooks'],
  ['webhook.graphql', 'webhooks'],
  ['audit.graphql', 'proof'],
]);

/** Only for domains that log reads. */
const OF_READ_LOG = 'read-log.graphql';

const isServed = (domain: Domain, file: string): boolean => {
  const part = OF_PARTS.get(file);
  return file === OF_READ_LOG ? logsReads(domain) : part === undefined || serves(domain, part);
};

const readTypes = (domain: Domain): DocumentNode => {
  return concatAST([
    ...readdirSync(FOLDER)
      .filter((name) => name.endsWith('.graphql') && isServed(domain, name))
      .sort()
      .map((name) =>
        parse(withFilters(domain, inWordsOf(domain, readFileSync(new URL(name, FOLDER), 'utf8'))), {
          noLocation: true,
        }),
      ),
    parse(domainSdl(domain), { noLocation: true }),
  ]);
};

/** The filters of the domain replace this comment. */
const FILTERS = /^ *# Filters by references of events$/gm;

const withFilters = (domain: Domain, text: string): string =>
  text.replaceAll(FILTERS, () => filterSdl(domain));

/** Every custom scalar of the files needs its rule here, because SDL cannot express it. */
const SCALARS: Readonly<Record<string, Pick<GraphQLScalarType, 'coerceInputValue' | 'coerceOutputValue'>>> = {
  _Any: { coerceInputValue: demandRepresentation, coerceOutputValue: demandRepresentation },
  Upload: { coerceInputValue: demandUpload, coerceOutputValue: demandUpload },
  Cursor: { coerceInputValue: demandText, coerceOutputValue: demandText },
  JSON: { coerceInputValue: takeAny, coerceOutputValue: takeAny },
  Date: { coerceInputValue: demandDay, coerceOutputValue: demandDay },
  DateTime: { coerceInputValue: readInstant, coerceOutputValue: demandInstant },
};

const buildSchema = (types: DocumentNode): GraphQLSchema => {
  const schema = buildASTSchema(types);
  for (const definition of types.definitions) {
    if (definition.kind !== Kind.SCALAR_TYPE_DEFINITION) continue;
    const scalar = schema.getType(definition.name.value);
    const rule = SCALARS[definition.name.value];
    if (!(scalar instanceof GraphQLScalarType) || rule === undefined)
      throw new Error(`scalar ${definition.name.value} has no rule`);
    Object.assign(scalar, rule);
  }
  return schema;
};

type Made = { readonly types: DocumentNode; readonly schema: GraphQLSchema };

const madeOf = oncePer((domain: Domain): Made => {
  const types = readTypes(domain);
  return { types, schema: buildSchema(types) };
});

/** The types of the kernel, as `schema/` declares them, and those of a domain. */
export const typesOf = (domain: Domain): DocumentNode => madeOf(domain).types;

/** The schema without resolvers. It is the same object for validation, cost, planning and execution. */
export const schemaOf = (domain: Domain): GraphQLSchema => madeOf(domain).schema;
