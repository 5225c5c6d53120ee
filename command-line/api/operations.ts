import * as z from 'zod';
import { harmless } from '../output/print-event.ts';

/** A JSON Schema, as far as values are read from texts. */
const Schema = z.looseObject({});
type Schema = Readonly<Record<string, unknown>>;

const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: Schema.default({}),
});
const Content = z.record(z.string(), z.object({ schema: Schema.default({}) }));
const Operation = z.object({
  operationId: z.string(),
  tags: z.array(z.string()).default([]),
  summary: z.string().default(''),
  description: z.string().default(''),
  parameters: z.array(z.looseObject({})).default([]),
  requestBody: z.object({ required: z.boolean().default(false), content: Content }).optional(),
  responses: z.record(z.string(), z.object({ content: Content.default({}) })).default({}),
  security: z.array(z.record(z.string(), z.unknown())).default([]),
});
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.looseObject({}).optional(),
});

type Place = 'path' | 'query' | 'header' | 'body';
/** A part of a request that has a name. */
export type Field = {
  readonly name: string;
  readonly place: Place;
  readonly isRequired: boolean;
  readonly description: string;
  /** All alternatives, without references. */
  readonly schemas: readonly Schema[];
};

export type ApiOperation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: readonly Field[];
  /** The media types of the body. */
  readonly bodyTypes: readonly string[];
  readonly isBodyRequired: boolean;
  /** The media types of answers. */
  readonly answerTypes: readonly string[];
  /** Whether some callers need no token. */
  readonly isPublic: boolean;
};

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** The operations of an OpenAPI document, in its order; undefined if it is none. */
export const operationsIn = (document: unknown): readonly ApiOperation[] | undefined => {
  const parsed = Document.safeParse(document);
  if (!parsed.success) return undefined;
  const at = resolverOf(document);
  return Object.entries(parsed.data.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, given]) => {
      const operation = METHODS.has(method) ? Operation.safeParse(given).data : undefined;
      return operation === undefined ? [] : [operationOf(operation, { method, path, at })];
    }),
  );
};

/** Follows a reference within the document. */
type Resolve = (schema: unknown) => Schema;
const REFERENCES_MAX = 20;

const resolverOf =
  (document: unknown): Resolve =>
  (given) => {
    let found = given;
    for (let count = 0; count < REFERENCES_MAX; count += 1) {
      const reference = Schema.safeParse(found).data?.$ref;
      if (typeof reference !== 'string') break;
      found = reference
        .replace(/^#\//, '')
        .split('/')
        .reduce<unknown>(
          (value, key) => (value as Schema | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
          document,
        );
    }
    return Schema.safeParse(found).data ?? {};
  };

type At = { readonly method: string; readonly path: string; readonly at: Resolve };

const operationOf = (operation: z.infer<typeof Operation>, { method, path, at }: At): ApiOperation => {
  const { requestBody, security, tags } = operation;
  const parameters = operation.parameters.flatMap((each) => Parameter.safeParse(at(each)).data ?? []);
  const json = Object.entries(requestBody?.content ?? {}).find(([type]) => isJson(type))?.[1].schema;
  return {
    id: harmless(operation.operationId),
    method: method.toUpperCase(),
    path,
    tag: harmless(tags[0] ?? 'Others'),
    summary: harmless(operation.summary),
    description: harmlessLines(operation.description),
    fields: [
      ...parameters.flatMap(({ name, in: place, required, description = '', schema }) =>
        place === 'cookie'
          ? []
          : [
              {
                ...{ name, place, isRequired: required },
                ...{ description: harmlessLines(description), schemas: alternativesOf(schema, at) },
              },
            ],
      ),
      ...(json === undefined ? [] : bodyFields(at(json), requestBody?.required ?? false, at)),
    ],
    bodyTypes: Object.keys(requestBody?.content ?? {}),
    isBodyRequired: requestBody?.required ?? false,
    answerTypes: Object.entries(operation.responses).flatMap(([status, { content }]) =>
      status.startsWith('2') ? Object.keys(content) : [],
    ),
    isPublic: security.length === 0 || security.some((each) => Object.keys(each).length === 0),
  };
};

/** The document may be of another installation, whose texts could control the terminal. */
const harmlessLines = (text: string): string => text.split('\n').map(harmless).join('\n');

/** Patches are sent by their fields too. */
export const isJson = (type: string): boolean =>
  type === 'application/json' || type.endsWith('merge-patch+json');

const bodyFields = (body: Schema, isBodyRequired: boolean, at: Resolve): readonly Field[] => {
  const properties = Schema.safeParse(body.properties).data ?? {};
  const required = new Set(z.array(z.string()).safeParse(body.required).data);
  return Object.entries(properties).map(([name, given]) => {
    const { description } = at(given);
    return {
      name,
      place: 'body',
      isRequired: isBodyRequired && required.has(name),
      description: typeof description === 'string' ? harmlessLines(description) : '',
      schemas: alternativesOf(given, at),
    };
  });
};

const DEPTH_MAX = 5;

const alternativesOf = (given: unknown, at: Resolve, depth = 0): readonly Schema[] => {
  const schema = at(given);
  const choices = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(choices) || depth === DEPTH_MAX)
    return [schema.items === undefined ? schema : { ...schema, items: at(schema.items) }];
  return choices.flatMap((each) => alternativesOf(each, at, depth + 1));
};
