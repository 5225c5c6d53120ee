import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { JsonObject } from '#kernel/base/json.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';

/** Requests, before defaults and transformations, or responses. */
type Direction = 'input' | 'output';

/** Schemas as JSON Schema; named ones are kept once and referred to. */
export type JsonSchemas = {
  of(schema: z.ZodType, direction: Direction): JsonObject;
  /** Every named schema referred to so far. */
  named(): Readonly<Record<string, JsonObject>>;
};

export const createJsonSchemas = (): JsonSchemas => {
  const named = new Map<string, JsonObject>();
  const found = new Map<string, JsonObject>();
  /** Many operations share schemas: responses with an article, the form of a page. */
  const generated = { input: new Map<z.ZodType, JsonObject>(), output: new Map<z.ZodType, JsonObject>() };
  return {
    of(schema, direction) {
      const known = generated[direction].get(schema);
      if (known !== undefined) return known;
      const { $defs, root } = generate(schema, direction);
      generated[direction].set(schema, root);
      for (const [name, definition] of Object.entries($defs)) {
        const known = found.get(`${direction} ${name}`);
        if (known !== undefined && !isDeepStrictEqual(known, definition))
          throw new StartRefused(
            `Two schemas are called ${name}: give the aggregate that brings one of them another name.`,
          );
        found.set(`${direction} ${name}`, definition);
        if (isAnyJson(name)) named.set(JSON_NAME, ANY_JSON);
        else named.set(name, direction === 'input' ? describeDefaults(definition) : definition);
      }
      return root;
    },
    named: () => Object.fromEntries([...named].toSorted(([one], [other]) => one.localeCompare(other))),
  };
};

const INT32_MAX = 2 ** 31 - 1;

const generate = (schema: z.ZodType, io: Direction) => {
  const generated = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      // The format says as much, and the pattern fills a screen.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      // A version is a literal, which zod describes as a number.
      if (Number.isInteger(jsonSchema.const)) jsonSchema.type = 'integer';
      // Without it, generators for Java and C# use a 32-bit integer.
      if (jsonSchema.type === 'integer' && Number(jsonSchema.maximum) > INT32_MAX)
        jsonSchema.format = 'int64';
    },
  });
  // Through JSON, so that only JSON remains, with references into our own document.
  const {
    $schema: _,
    $defs = {},
    ...root
  } = JSON.parse(JSON.stringify(generated), pointIntoComponents) as JsonObject;
  return { root, $defs: $defs as Readonly<Record<string, JsonObject>> };
};

/**
 * Client generators make a field with a `default` mandatory (openapi-typescript does), also in requests. So
 * the defaults of requests are in the description.
 */
const describeDefaults = (definition: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(definition), (_key, value: unknown) =>
    isDefaulted(value) ? describeDefault(value) : value,
  ) as JsonObject;

const isDefaulted = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && 'default' in value && ('type' in value || 'anyOf' in value);

const describeDefault = ({ default: value, description, ...schema }: JsonObject): JsonObject => {
  const text = `By default \`${JSON.stringify(value)}\`.`;
  return { ...schema, description: description === undefined ? text : `${String(description)} ${text}` };
};

const DEFINITIONS = '#/$defs/';

const pointIntoComponents = (key: string, value: unknown): unknown =>
  key === '$ref' && typeof value === 'string' && value.startsWith(DEFINITIONS)
    ? `#/components/schemas/${nameOf(value.slice(DEFINITIONS.length))}`
    : value;

/** A recursive schema without a name is that of any JSON. */
const isAnyJson = (definition: string): boolean => /^__schema\d+$/.test(definition);
const JSON_NAME = 'Json';
/** Replaces a recursive union, for which client generators for Python, Go and Java make no types. */
const ANY_JSON: JsonObject = { description: 'Any JSON value.' };

const nameOf = (definition: string): string => (isAnyJson(definition) ? JSON_NAME : definition);
