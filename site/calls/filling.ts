import type { JsonObject } from '#kernel/base/json.ts';
import { type Description, nameIn, type Operation, type Parameter, parameterIn } from './description.ts';

/** The values that an example call is filled in with. */
export type Filling = {
  readonly origin: string;
  /** By path parameter; others have the examples of the OpenAPI document. */
  readonly ids?: Readonly<Record<string, number | string>>;
  /** By schema name, in the same way. */
  readonly bodies?: Readonly<Record<string, JsonObject>>;
};

/** An operation filled in, from which each example is written. */
export type Call = {
  readonly operation: Operation;
  readonly origin: string;
  readonly ids: Readonly<Record<string, number | string>>;
  readonly body: JsonObject | undefined;
  readonly mediaType: string | undefined;
  readonly needsToken: boolean;
};

/** Merge patch first, because most clients send changes that way. */
const TYPES = ['application/merge-patch+json', 'application/json', 'image/png'];

export const fillIn = (
  operation: Operation,
  description: Description,
  { origin, ids = {}, bodies = {} }: Filling,
): Call => {
  const inPath = operation.parameters
    .map((each) => parameterIn(description, each))
    .filter((each) => each.in === 'path');
  const content = operation.requestBody?.content ?? {};
  const mediaType = TYPES.find((type) => type in content);
  const reference = mediaType === undefined ? undefined : content[mediaType]?.schema?.$ref;
  const name = typeof reference === 'string' ? nameIn(reference) : undefined;
  const example = name === undefined ? undefined : exampleIn(description.schemas[name]);
  return {
    operation,
    origin,
    ids: Object.fromEntries(inPath.map((each) => [each.name, ids[each.name] ?? exampleId(each)])),
    body: name === undefined ? undefined : (bodies[name] ?? example),
    mediaType,
    needsToken: !operation.security.some((way) => Object.keys(way).length === 0),
  };
};

const exampleId = ({ name, schema }: Parameter): number | string => {
  const example = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  if (typeof example === 'number' || typeof example === 'string') return example;
  if (typeof example === 'boolean') return String(example);
  throw new Error(`the parameter ${name} has no example`);
};

const exampleIn = (schema: JsonObject | undefined): JsonObject | undefined =>
  Array.isArray(schema?.examples) ? (schema.examples[0] as JsonObject) : undefined;

export const pathOf = ({ operation, ids }: Call): string =>
  operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(ids[name]));
