import type { RequestHandler } from 'express';
import { answerDocument } from '#edge/pages/answer-document.ts';
import { EXAMPLE_CURSOR, formatCursor } from '#kernel/base/cursor.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { capital, spaced } from '#kernel/base/names.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { type Policy, policyOf } from '#shared/policy.ts';
import { type Operations, operationsOf } from '#shared/rest/operations.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { ANSWER_HEADERS, answersOf } from './answers.ts';
import { componentSchemas, problemExamples } from './components.ts';
import { createJsonSchemas, type JsonSchemas } from './json-schemas.ts';
import { HEADER_PARAMETERS, parametersOf } from './parameters.ts';
import { demandOf, securityOf, securitySchemes } from './security.ts';
import { type Tags, tagOf, tagsOf, tagsUsedIn } from './tags.ts';
import { uploadPaths } from './uploads.ts';
import { yamlOf } from './yaml.ts';

export type OpenApiOptions = {
  readonly domain: Domain;
  /** The URL by which clients know this installation. */
  readonly publicUrl: string;
  readonly issuerUrl: string;
  readonly requireIfMatch: boolean;
};

/** The whole REST interface in OpenAPI 3.1, made from the schemas that validate requests. */
export const openApiDocument = ({
  domain,
  publicUrl,
  issuerUrl,
  requireIfMatch,
}: OpenApiOptions): JsonObject => {
  const policy = policyOf(domain);
  const operations = operationsOf(domain);
  const context = { operations, policy, tags: tagsOf(domain), schemas: createJsonSchemas(), requireIfMatch };
  const paths = { ...pathsOf(context), ...uploadPaths(domain) };
  const used = tagsUsedIn(paths);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Annals',
      version: packageJson.version,
      summary: `An event-sourced backend for ${domain.name}.`,
      description: conventionsOf(domain),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl.replace(/\/$/, '') }],
    tags: Object.values(context.tags).filter(
      ({ name, description }) => description !== undefined && used.has(name),
    ),
    paths,
    components: {
      schemas: componentSchemas(domain, context.schemas),
      parameters: HEADER_PARAMETERS,
      headers: ANSWER_HEADERS,
      examples: problemExamples(domain),
      securitySchemes: securitySchemes(domain, issuerUrl),
    },
  };
};

type Context = {
  readonly operations: Operations;
  readonly policy: Policy;
  readonly tags: Tags;
  readonly schemas: JsonSchemas;
  readonly requireIfMatch: boolean;
};

const pathsOf = (context: Context): JsonObject => {
  const byPath = Map.groupBy(Object.entries(context.operations), ([, { path }]) => path);
  return Object.fromEntries([...byPath].map(([path, ofPath]) => [path, pathItem(ofPath, context)]));
};

const pathItem = (operations: readonly [string, RestOperation][], context: Context): JsonObject =>
  Object.fromEntries(
    operations.map(([id, operation]) => [
      operation.method.toLowerCase(),
      operationObject(id, operation, context),
    ]),
  );

const operationObject = (id: string, operation: RestOperation, context: Context): JsonObject => ({
  operationId: id,
  tags: [tagOf(operation, context.tags)],
  summary: operation.summary,
  description: demandOf(context.policy, operation.right),
  parameters: parametersOf(operation, context.schemas, context.requireIfMatch),
  ...(operation.body !== undefined && {
    requestBody: requestBody(operation, operation.body, context.schemas),
  }),
  responses: answersOf(operation, context),
  security: securityOf(context.policy, operation.right),
});

const requestBody = (
  { isBodyOptional, bodySays }: RestOperation,
  body: NonNullable<RestOperation['body']>,
  schemas: JsonSchemas,
): JsonObject => ({
  ...(bodySays !== undefined && { description: bodySays }),
  ...(!isBodyOptional && { required: true }),
  content: Object.fromEntries(
    Object.entries(body).map(([type, schema]) => [type, { schema: schemas.of(schema, 'input') }]),
  ),
});

/** The conventions of all operations, in Markdown. */
export const conventionsOf = (domain: Domain): string =>
  `
${capital(new Intl.ListFormat('en-GB').format(Object.values(domain.kinds).map(({ plural }) => spaced(plural))))} as resources with links. All of it is also under \`/api\`.

**Rights.** Public data can be read without a token. Everything else needs an access token with the scope that the operation names,
and depends on who the user is: items that you may not read look absent (404). \`_links\` lists the actions that you may take on an item.

**Versions.** Every item has an \`ETag\`. Send it as \`If-Match\` with a change, so that nobody overwrites the change of another caller.
Send it as \`If-None-Match\` with a read, and you get 304 if you have the current version.

**Read your writes.** Every write returns a \`Consistency-Token\`. Send it with a read, and the read sees the write.

**Retries.** Send an \`Idempotency-Key\` with a write. You can then repeat the request, and the write runs only once.

**Lists** come in pages: follow the \`Link\` with \`rel="next"\` until there is none. Request \`application/hal+json\` to get the links in
the body: a page is then a \`HalPage\`. Items are the same in both media types.

**Time travel.** Read an item or a list \`at\` a time, a cursor or a version, and the response has its former state; \`As-Of\` is the cursor of that
point in time. The history of an item shows who changed what.

**Problems** are \`application/problem+json\` (RFC 9457) with a stable \`code\`.
`.trim();

type Log = Pick<EventLog, 'identity'>;

/**
 * The document of this installation. Its cursors are of the start of the log, so that all processes answer the same,
 * and requests with the examples are valid.
 */
const textOf = (options: OpenApiOptions, { identity }: Log): string =>
  JSON.stringify(openApiDocument(options)).replaceAll(EXAMPLE_CURSOR, formatCursor(identity, START));

export const answerOpenApi = (options: OpenApiOptions, log: Log): RequestHandler =>
  answerDocument({ type: 'application/json', text: textOf(options, log) });

/** The same for people, and for tools that take YAML alone (RFC 9512). */
export const answerOpenApiInYaml = (options: OpenApiOptions, log: Log): RequestHandler =>
  answerDocument({
    type: 'application/yaml',
    text: yamlOf(JSON.parse(textOf(options, log)) as JsonObject),
  });
