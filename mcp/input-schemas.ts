import type { JsonObject } from '#kernel/base/json.ts';
import { REASON, REASON_CHARACTERS_MAX } from '#kernel/base/reason.ts';
import { isOfLog, type RestOperation } from '#kernel/base/rest/operation.ts';

export const JSON_TYPE = 'application/json';

export type Places = {
  readonly path: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
  /** Whether the fields of the body are arguments themselves, or one argument `body` has them. */
  readonly body: 'none' | 'fields' | 'whole';
  /** Whether a change may name the version that it is about. */
  readonly takesVersion: boolean;
  readonly takesReason: boolean;
};

/** An operation as the OpenAPI document describes it. */
export type Described = {
  readonly description?: string;
  readonly parameters: readonly (JsonObject & {
    readonly name?: string;
    readonly in?: string;
    readonly required?: boolean;
    readonly schema?: JsonObject;
  })[];
  readonly requestBody?: {
    readonly description?: string;
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonObject }>>;
  };
};

export type InputSchema = JsonObject & { readonly type: 'object' };

type Input = { readonly inputSchema: InputSchema; readonly places: Places };

/** Makes one flat object of the parameters and the body of each operation. */
export const createInputSchemas = (components: Readonly<Record<string, JsonObject>>) => ({
  of(operation: RestOperation, { parameters, requestBody }: Described): Input {
    const named = parameters.flatMap(({ name, in: place, required = false, schema = {}, description }) =>
      name !== undefined && (place === 'path' || place === 'query')
        ? [
            {
              name,
              place,
              required,
              schema: { ...schema, ...(description !== undefined && { description }) },
            },
          ]
        : [],
    );
    const body = requestBody?.content[JSON_TYPE]?.schema;
    const form = body && objectIn(body, components);
    const own = new Set(named.map(({ name }) => name));
    const takesVersion = isOfLog(operation) && isChange(operation);
    const isFlat =
      form !== undefined && Object.keys(form.properties).every((name) => !own.has(name) && name !== VERSION);
    const isNeeded = requestBody?.required === true;
    const properties = {
      ...Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
      ...(body !== undefined && (isFlat ? form.properties : { [BODY]: body })),
      ...(takesVersion && { [VERSION]: VERSION_SCHEMA }),
      ...(operation.reason !== undefined && { [REASON]: REASON_SCHEMA }),
    };
    const required = [
      ...named.flatMap(({ name, required: isRequired }) => (isRequired ? [name] : [])),
      ...(body !== undefined && isNeeded ? (isFlat ? form.required : [BODY]) : []),
      ...(takesVersion && needsVersion(parameters) ? [VERSION] : []),
      ...(operation.reason === 'required' ? [REASON] : []),
    ];
    return {
      inputSchema: withDefinitions(
        { type: 'object', properties, required, additionalProperties: false },
        components,
      ),
      places: {
        path: new Set(named.flatMap(({ name, place }) => (place === 'path' ? [name] : []))),
        query: new Set(named.flatMap(({ name, place }) => (place === 'query' ? [name] : []))),
        body: body === undefined ? 'none' : isFlat ? 'fields' : 'whole',
        takesVersion,
        takesReason: operation.reason !== undefined,
      },
    };
  },
});

export const BODY = 'body';
export const VERSION = 'etag';
const VERSION_SCHEMA: JsonObject = {
  type: 'string',
  description: 'The `etag` of the item as you have read it. If the item has changed since, nothing happens.',
};

const REASON_SCHEMA: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: REASON_CHARACTERS_MAX,
  description:
    'Why, in one line, as the user has said. Everyone who may read the history sees it. Never make one up: ask the user.',
};

/** A change of an item that exists. */
const isChange = ({ method, path, answer }: RestOperation): boolean =>
  method !== 'GET' && path.includes('{') && (answer.status !== 201 || answer.isOfItem === true);

const needsVersion = (parameters: Described['parameters']): boolean =>
  parameters.some(({ name, required }) => name === 'If-Match' && required === true);

type ObjectSchema = {
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
};

/** The fields of a form; undefined if the schema is more than a plain object. */
const objectIn = (
  schema: JsonObject,
  components: Readonly<Record<string, JsonObject>>,
): ObjectSchema | undefined => {
  const name = nameIn(schema);
  const { type, properties, required = [], ...more } = (name === undefined ? schema : components[name]) ?? {};
  const isPlain = Object.keys(more).every((key) => PLAIN.has(key));
  return type === 'object' && properties !== undefined && isPlain
    ? ({ properties, required } as unknown as ObjectSchema)
    : undefined;
};

const PLAIN = new Set(['description', 'title', 'additionalProperties', 'examples', 'minProperties']);

const COMPONENTS = '#/components/schemas/';

const nameIn = ({ $ref }: JsonObject): string | undefined =>
  typeof $ref === 'string' && $ref.startsWith(COMPONENTS) ? $ref.slice(COMPONENTS.length) : undefined;

/** With the named schemas that it refers to, and only those. */
const withDefinitions = (
  schema: InputSchema,
  components: Readonly<Record<string, JsonObject>>,
): InputSchema => {
  const used = new Map<string, JsonObject>();
  const local = (each: JsonObject): JsonObject =>
    JSON.parse(JSON.stringify(each), (key, value: unknown) => {
      const name = key === '$ref' ? nameIn({ $ref: value } as JsonObject) : undefined;
      if (name === undefined) return value;
      if (!used.has(name)) {
        // First, because it may refer to itself.
        used.set(name, {});
        used.set(name, local(components[name] ?? {}));
      }
      return `#/$defs/${name}`;
    }) as JsonObject;
  const root = local(schema) as InputSchema;
  return used.size === 0 ? root : { ...root, $defs: Object.fromEntries(used) };
};
