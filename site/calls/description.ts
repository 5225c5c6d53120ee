import type { JsonObject } from '#kernel/base/json.ts';
import { type OpenApiOptions, openApiDocument } from '../../query/openapi/document.ts';

/** The parts of the OpenAPI document that the page shows. The document is our own, and its form is tested. */
export type Description = {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly operations: readonly Operation[];
  readonly schemas: Named;
  readonly headers: Readonly<Record<string, Header>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
};

export type Operation = {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
  /** Any of these is enough; the empty one means no token. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
};

export type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
};
export type Content = Readonly<Record<string, { readonly schema?: JsonObject }>>;
type Header = { readonly description: string; readonly schema: JsonObject };
export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonObject;
};
type Reference = { readonly $ref: string };
type Named = Readonly<Record<string, JsonObject>>;
type Document = Pick<Description, 'tags'> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'path' | 'method'>>>>>;
  readonly components: Pick<Description, 'schemas' | 'headers' | 'parameters'>;
};

export const describeRest = (options: OpenApiOptions): Description => {
  const { tags, paths, components } = openApiDocument(options) as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  return {
    tags,
    operations: operations.toSorted((one, other) => one.path.localeCompare(other.path)),
    ...components,
  };
};

/** Resolves a reference to a shared parameter. */
export const parameterIn = ({ parameters }: Description, given: Parameter | Reference): Parameter => {
  if (!('$ref' in given)) return given;
  const found = parameters[nameIn(given.$ref)];
  if (found === undefined) throw new Error(`there is no ${given.$ref}`);
  return found;
};

export const nameIn = (reference: string): string => reference.split('/').at(-1) ?? '';
