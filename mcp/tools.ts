import type { JsonObject } from '#kernel/base/json.ts';
import { isAbsence } from '#kernel/base/rejection.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { AggregateOperation } from '#kernel/rest/operation.ts';
import { type AnyOperation, operationsOf } from '#shared/rest/operations.ts';
import { type OpenApiOptions, openApiDocument } from '../query/openapi/document.ts';
import {
  createInputSchemas,
  type Described,
  type InputSchema,
  JSON_TYPE,
  type Places,
} from './input-schemas.ts';

/** A tool: one operation of the REST interface, which has its name. */
export type Tool = {
  readonly name: string;
  readonly operation: RestOperation;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  /** The names of its arguments by their place in the request. */
  readonly places: Places;
};

/** The tools over the declared domain, derived from the OpenAPI document. */
export const toolsOf = (options: OpenApiOptions): readonly Tool[] => {
  const { paths, components } = openApiDocument(options) as unknown as Document;
  const inputs = createInputSchemas(components.schemas);
  return ownOperations(options.domain).map(([name, operation]): Tool => {
    const described = paths[operation.path]?.[operation.method.toLowerCase()];
    if (described === undefined) throw new Error(`the OpenAPI document lacks ${name}`);
    const { inputSchema, places } = inputs.of(operation, described);
    return {
      name,
      operation,
      title: operation.summary,
      description: [
        operation.summary,
        described.requestBody?.description,
        ...refusalsOf(operation, components.examples),
        ...(isConfirmed(operation) ? [CONFIRMED] : []),
      ]
        .flatMap((each) => each?.replace(/[^.]$/, '$&.') ?? [])
        .join(' '),
      inputSchema,
      places,
    };
  });
};

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described | undefined>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonObject>>;
    readonly examples: Readonly<Record<string, { readonly value?: { readonly title?: string } }>>;
  };
};

/** When the state of the item refuses it, in the words of the domain. That an item is absent, everybody expects. */
const refusalsOf = (
  { refusals = [] }: RestOperation,
  examples: Document['components']['examples'],
): readonly string[] => {
  const sentences = refusals.flatMap((code) =>
    isAbsence(code) || BY_PERSONS.has(code) ? [] : (examples[code]?.value?.title ?? []),
  );
  return sentences.length === 0 ? [] : [`Refused if so: ${[...new Set(sentences)].join(' ')}`];
};

/** Said in other words, or of what only persons do. */
const BY_PERSONS: ReadonlySet<string> = new Set([
  'confirmation_required',
  'signature_required',
  'signature_invalid',
  'signer_required',
]);

const isConfirmed = ({ refusals = [] }: RestOperation): boolean => refusals.includes('confirmation_required');
const CONFIRMED =
  'A person must approve it first: the result has a `link` to show to the user, and says how to read what became of it.';

/** The operations of users, of the domain’s aggregates and views, and the feed of their changes. */
const KERNEL: ReadonlySet<string> = new Set(['getMe', 'listUsers', 'getUser', 'listEvents', 'getEvent']);

/** One for each command: an edit is a patch, not the replacement that `PUT` would send. */
const ownOperations = (domain: Domain): readonly (readonly [string, RestOperation])[] => {
  const all = Object.entries<AnyOperation>(operationsOf(domain));
  const patched = new Set(all.flatMap(([, { method, path }]) => (method === 'PATCH' ? [path] : [])));
  return all.filter(
    ([id, operation]) =>
      (operation.of !== 'kernel' || KERNEL.has(id)) &&
      !(operation.method === 'PUT' && patched.has(operation.path)) &&
      // Only persons decide about the requests of agents.
      !(operation.of === 'aggregate' && operation.use.kind.confirms && operation.use.does === 'command') &&
      // Nor do agents sign.
      !(operation.isSigned && !isConfirmed(operation)) &&
      // Models send no files, and take none away that they could not send back.
      !(operation.of === 'aggregate' && isOfFile(operation)) &&
      (operation.body === undefined || JSON_TYPE in operation.body),
  );
};

const isOfFile = ({ use: { does } }: AggregateOperation): boolean =>
  does === 'putFile' || does === 'removeFile';
