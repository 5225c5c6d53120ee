// Over 200 lines, because every check reads the one document that is made here.
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { publishing } from '#domain/publishing.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { DESCRIBED, operation as restOperation } from '../../test/engines/operations.ts';
import { serveRoutes } from '../../test/serve.ts';
import { EXAMPLE_LOG } from '../event-types/event-types.ts';
import { openApiDocument } from './document.ts';
import { examplesOf } from './examples.ts';
import { openApiRoutes } from './routes.ts';

const OPTIONS = {
  domain: publishing,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://issuer.example',
  requireIfMatch: false,
};

type Operation = {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name?: string;
    readonly $ref?: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
};
type Schema = {
  readonly type?: string;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const DOCUMENT = openApiDocument(OPTIONS) as unknown as Document;
const documentOf = (options = OPTIONS) =>
  options === OPTIONS ? DOCUMENT : (openApiDocument(options) as unknown as Document);
const operationOf = (id: string, options = OPTIONS): Operation => {
  const { path, method } = restOperation(id);
  const operation = documentOf(options).paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${id} is not in the document`);
  return operation;
};

test('an independent validator accepts it, and every reference resolves', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(
    structuredClone<object>(documentOf()) as Record<string, unknown>,
  );
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
  expect(() => validator.resolveRefs()).not.toThrow();
});

test('it has nothing that client generators make no types of', () => {
  const { schemas } = documentOf().components;
  expect(schemas.Json).toEqual({ description: 'Any JSON value.' });
  expect(Object.keys(schemas).filter((name) => name.startsWith('_'))).toEqual([]);
  expect(schemas.Article?.properties?.id).toMatchObject({ type: 'integer', format: 'int64' });
});

test('it has every operation, the uploads, and nothing else', () => {
  const documented = Object.entries(documentOf().paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  );
  const all = Object.entries(DESCRIBED).map(([id, { method, path }]) => `${id} ${method} ${path}`);
  expect(documented.toSorted()).toEqual(
    [...all, 'getUpload GET /uploads/{name}', 'getUploadAddress GET /uploads/{name}/address'].toSorted(),
  );
});

test('a list declares its parameters, its items, its scopes and its refusals', () => {
  const { parameters, responses, security } = operationOf('listArticles');
  expect(parameters.map(({ name, $ref }) => name ?? $ref?.split('/').at(-1))).toEqual(
    expect.arrayContaining([
      'limit',
      'after',
      'before',
      'sort',
      'status',
      'author',
      'tag',
      'q',
      'IfMatch',
      'IfNoneMatch',
      'ConsistencyToken',
    ]),
  );
  expect(parameters.filter(({ required }) => required)).toEqual([]);
  expect(Object.keys(responses)).toEqual([
    '200',
    '304',
    '400',
    '401',
    '403',
    '406',
    '408',
    '412',
    '429',
    '431',
    '500',
    '503',
  ]);
  expect(responses['200']).toMatchObject({
    headers: { ETag: {}, Link: {}, RateLimit: {} },
    content: { 'application/json': { schema: { type: 'array' } } },
  });
  expect(documentOf().components.schemas.HalPage).toMatchObject({ required: ['_links', '_embedded'] });
  expect(security).toEqual([{}, { oauth: ['read:articles'] }, { bearer: [] }]);
});

/** Sent as they are read, with each request again. */
const DOWNLOADS: ReadonlySet<string> = new Set(
  Object.entries(operationsOf(publishing)).flatMap(([id, { answer }]) =>
    answer.kind === 'sent' ? [id] : [],
  ),
);

test('every write declares an idempotency key and its refusals', () => {
  const writes = Object.values(DOCUMENT.paths).flatMap((item) =>
    Object.entries(item).filter(([method]) => method !== 'get'),
  );
  expect(writes.length).toBeGreaterThan(40);
  expect(DOWNLOADS.size).toBeGreaterThan(0);
  const repeatable = writes.filter(([, { operationId }]) => !DOWNLOADS.has(String(operationId)));
  const without = repeatable.filter(
    ([, { parameters, responses }]) =>
      !parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey') ||
      !('422' in responses),
  );
  expect(without.map(([, { operationId }]) => operationId)).toEqual([]);
});

test('a read declares that If-Match can fail, but lines do not', () => {
  for (const id of ['getArticle', 'listArticles', 'getClient', 'listPersonalTokens'])
    expect(Object.keys(operationOf(id).responses)).toContain('412');
  expect(Object.keys(operationOf('exportLog').responses)).not.toContain('412');
});

test('every write that is carried out later says where to follow it', () => {
  const later = Object.values(DOCUMENT.paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId, responses }) => {
      const answer = responses['202'] as { readonly headers?: object } | undefined;
      return answer === undefined ? [] : [[operationId, 'Location' in (answer.headers ?? {})]];
    }),
  );
  expect(later.length).toBeGreaterThan(4);
  expect(later.filter(([, hasLocation]) => !hasLocation)).toEqual([]);
});

test('a patch declares three media types, a version and every refusal', () => {
  const { parameters, requestBody, responses, security } = operationOf('editArticle');
  expect(parameters.map(({ name, $ref }) => name ?? $ref)).toEqual([
    'articleId',
    '#/components/parameters/IdempotencyKey',
    '#/components/parameters/IfMatch',
    '#/components/parameters/IfNoneMatch',
    '#/components/parameters/Prefer',
  ]);
  expect(Object.keys(requestBody?.content ?? {})).toEqual([
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/json',
  ]);
  expect(Object.keys(responses)).toEqual([
    '200',
    '204',
    '400',
    '401',
    '403',
    '404',
    '406',
    '408',
    '409',
    '412',
    '413',
    '415',
    '422',
    '429',
    '431',
    '500',
    '503',
  ]);
  expect(security).toEqual([{ oauth: ['write:articles'] }, { bearer: [] }]);
});

test('no operation of the authorization server takes Prefer', () => {
  const { paths } = documentOf();
  const beside = Object.values(DESCRIBED).flatMap(({ role, path }) => (role === 'auth' ? [paths[path]] : []));
  expect(beside).toContainEqual(
    expect.objectContaining({ patch: expect.objectContaining({ operationId: 'editClient' }) as object }),
  );
  expect(JSON.stringify(beside)).not.toContain('Prefer');
});

test('if the settings require a version, so does the document', () => {
  const { parameters, responses } = operationOf('deleteComment', { ...OPTIONS, requireIfMatch: true });
  expect(parameters).toContainEqual(expect.objectContaining({ name: 'If-Match', required: true }));
  expect(Object.keys(responses)).toContain('428');
});

/** The zod schemas by name, collected from the operations. */
const schemas = new Map(
  Object.values(DESCRIBED)
    .flatMap(({ body = {}, answer }: RestOperation) => [...Object.values(body), answer.schema])
    .flatMap((schema) =>
      schema?.meta()?.id === undefined ? [] : [[schema.meta()?.id, schema] as [string, z.ZodType]],
    ),
);

/** The bodies that are objects, by name. */
const bodies = Object.values(DESCRIBED)
  .flatMap(({ body = {} }: RestOperation) => Object.values(body))
  .filter(
    (schema) =>
      schema.meta()?.id !== undefined &&
      documentOf().components.schemas[schema.meta()?.id ?? '']?.type === 'object',
  );

test.each(bodies.map((schema) => [schema.meta()?.id ?? '', schema] as const))(
  'of %s exactly the fields that a request must have are required, also to generators that take a default for a promise',
  (name, schema) => {
    const { properties = {}, required = [] } = documentOf().components.schemas[name] ?? {};
    const { error } = schema.safeParse({});
    const missing = (error?.issues ?? []).map(({ path }) => String(path[0]));
    expect(required.toSorted()).toEqual(missing.toSorted());
    expect(JSON.stringify(properties)).not.toContain('"default":');
  },
);

test('a field that may be omitted declares its default', () => {
  const { tags, cover, publish } = documentOf().components.schemas.NewArticle?.properties ?? {};
  expect([tags?.description, cover?.description, publish?.description]).toEqual([
    'By default `[]`.',
    'By default `null`.',
    'By default `false`.',
  ]);
});

const EXAMPLES = examplesOf(publishing);
test.each(Object.keys(EXAMPLES))('the example of %s is valid', (name) => {
  expect(() => schemas.get(name)?.parse(EXAMPLES[name])).not.toThrow();
  expect(documentOf().components.schemas[name]?.examples).toEqual([EXAMPLES[name]]);
});

test('it is served as JSON, and revalidated with 304', async () => {
  await using server = await serveRoutes(openApiRoutes(OPTIONS, { identity: EXAMPLE_LOG }));
  const first = await fetch(`${server.url}/openapi.json`);
  expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await first.json()).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: 'https://annals.example' }],
    components: {
      securitySchemes: {
        oauth: { flows: { authorizationCode: { authorizationUrl: 'https://issuer.example/authorize' } } },
      },
    },
  });
  const again = await fetch(`${server.url}/openapi.json`, {
    headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
  });
  expect(again.status).toBe(304);
  const posted = await fetch(`${server.url}/openapi.json`, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
