// Over 200 lines, because it is one table: each invalid subscription, and the answer to each form of request.
import { describe, expect } from 'vitest';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';

const PUBLISHED = 'subscription { articlePublished { type } }';

const test = sharedTest
  .extend('token', { scope: 'file' }, ({ people }) => people.administrator.token)
  .extend(
    'post',
    { scope: 'file' },
    ({ graphqlUrl, installation }) =>
      (headers: Record<string, string>, body: unknown = { query: PUBLISHED }, signal?: AbortSignal) =>
        installation.fetch(graphqlUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
          ...(signal && { signal }),
        }),
  )
  /** A cursor beyond the end of the log. */
  .extend('beyond', { scope: 'file' }, async ({ installation }) => {
    await using stream = await streamOf(installation, PUBLISHED);
    const cursor = await until(stream.lastEventId, (id) => id !== '');
    return `${cursor.split('-')[0]}-zzzzzz`;
  });

type Sent = Parameters<typeof streamOf>[2];
type Given = { readonly token: string; readonly beyond: string };
type Case = [name: string, code: string, query: string, sent?: Sent | ((given: Given) => Sent)];
const WRONG: Case[] = [
  ['no GraphQL at all', 'malformed_document', 'subscription {'],
  ['two root fields', 'invalid_document', 'subscription { articlePublished { type } changes { type } }'],
  [
    'two root fields by a fragment',
    'invalid_document',
    'subscription { ...F } fragment F on Subscription { a: changes { type } b: changes { type } }',
  ],
  ['introspection at the root', 'invalid_document', 'subscription { __typename }'],
  [
    'a root field that may be left out',
    'invalid_document',
    'subscription { articlePublished @skip(if: true) { type } }',
  ],
  ['an unknown field', 'invalid_document', 'subscription { everything { type } }'],
  ['no article', 'invalid_document', 'subscription { articleChanged { type } }'],
  ['an id that is none', 'invalid_argument', 'subscription { articleChanged(id: "five") { type } }'],
  [
    'an article that is null',
    'invalid_variables',
    'subscription ($id: ID = 5) { articleChanged(id: $id) { type } }',
    { variables: { id: null } },
  ],
  [
    'a variable of another type',
    'invalid_variables',
    'subscription ($id: ID!) { articleChanged(id: $id) { type } }',
    { variables: { id: {} } },
  ],
  [
    'a type that there is not',
    'invalid_argument',
    'subscription { changes(types: ["article.publish"]) { type } }',
    ({ token }) => ({ token }),
  ],
  [
    'a type that is internal',
    'invalid_argument',
    'subscription { changes(types: ["email.claimed"]) { type } }',
    ({ token }) => ({ token }),
  ],
  [
    'no type at all',
    'invalid_argument',
    'subscription { changes(types: []) { type } }',
    ({ token }) => ({ token }),
  ],
  ['a cursor that is none', 'unknown_cursor', 'subscription { articlePublished(after: "garbage") { type } }'],
  [
    'a cursor of another log',
    'unknown_cursor',
    'subscription { articlePublished(after: "00000000-1") { type } }',
  ],
  ['a number for a cursor', 'invalid_document', 'subscription { articlePublished(after: 5) { type } }'],
  ['a Last-Event-ID that is none', 'unknown_cursor', PUBLISHED, { headers: { 'last-event-id': 'garbage' } }],
  [
    'a cursor beyond the end',
    'unknown_cursor',
    'subscription ($after: Cursor) { articlePublished(after: $after) { type } }',
    ({ beyond }) => ({ variables: { after: beyond } }),
  ],
  [
    'what goes too deep',
    'too_deep',
    `subscription { articlePublished { article ${'{ author { posts '.repeat(5)} { id } ${'} }'.repeat(5)} } }`,
  ],
  ['a document that is too long to keep', 'subscription_too_large', `${PUBLISHED} # ${'x'.repeat(66_000)}`],
  [
    'variables that are too long to keep',
    'subscription_too_large',
    PUBLISHED,
    { variables: { unused: 'x'.repeat(66_000) } },
  ],
  [
    'what costs too much',
    'too_costly',
    'subscription { articlePublished { article { comments(limit: 100) { post { comments(limit: 10) { id } } } } } }',
  ],
  [
    'a longer list than there are',
    'limit_out_of_range',
    'subscription { articlePublished { article { comments(limit: 101) { id } } } }',
  ],
  [
    'no document of that name',
    'PERSISTED_QUERY_NOT_FOUND',
    '',
    { body: { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } } },
  ],
  [
    'an operation that is not named',
    'operation_not_named',
    `${PUBLISHED.replace(' ', ' A ')} ${PUBLISHED.replace(' ', ' B ')}`,
  ],
];

describe('an invalid subscription', () => {
  // Clients treat an error status as a broken connection, and retry.
  test.for(WRONG)(
    '%s is reported as the last result of a stream, with the code %s',
    async ([_name, code, query, sent = {}], { beyond, openStream, token }) => {
      const stream = await openStream(query, typeof sent === 'function' ? sent({ beyond, token }) : sent);
      await stream.over();
      expect([stream.status, stream.isComplete()]).toEqual([200, true]);
      const results = await stream.results(1);
      expect(results.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual([code]);
      expect(results[0]?.data).toBeUndefined();
    },
  );

  const codeOf = async (response: Response) =>
    ((await response.json()) as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code;

  test('has no JSON answer, but an error that names the alternative', async ({ post }) => {
    for (const accept of [
      'application/json',
      'application/graphql-response+json',
      '*/*, text/event-stream;q=0',
    ]) {
      const refused = await post({ accept });
      expect([refused.status, refused.headers.get('content-type')?.startsWith('application/')]).toEqual([
        406,
        true,
      ]);
      const { errors } = (await refused.json()) as {
        errors: { message: string; extensions: { code: string } }[];
      };
      expect(errors[0]).toMatchObject({
        message: expect.stringContaining('text/event-stream'),
        extensions: { code: 'not_acceptable' },
      });
    }
  });

  test('is refused by GET', async ({ graphqlUrl, installation }) => {
    const query = new URLSearchParams({ query: PUBLISHED });
    const refused = await installation.fetch(`${graphqlUrl}?${query}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await codeOf(refused)).toBe('method_not_allowed');
  });

  test('is a bad request if its body is invalid', async ({ post }) => {
    const accept = 'text/event-stream';
    expect((await post({ accept }, '{')).status).toBe(400);
    expect((await post({ accept }, [{ query: PUBLISHED }])).status).toBe(400);
    expect((await post({ accept, 'content-type': 'text/plain' })).status).toBe(415);
  });
});

describe('the Accept header', () => {
  test.for([
    ['text/event-stream', '200 text/event-stream', '200 text/event-stream'],
    ['text/event-stream, application/json', '200 text/event-stream', '200 text/event-stream'],
    ['application/json, text/event-stream', '200 application/json', '200 text/event-stream'],
    ['application/json;q=0.5, text/event-stream;q=0.9', '200 text/event-stream', '200 text/event-stream'],
    [
      'application/graphql-response+json, application/json, text/event-stream;q=0.1, multipart/mixed',
      '200 application/graphql-response+json',
      '200 text/event-stream',
    ],
    ['*/*', '200 application/json', '200 text/event-stream'],
    ['text/*', '200 text/event-stream', '200 text/event-stream'],
    ['multipart/mixed', '406 application/json', '406 application/json'],
  ] as const)('%s', async ([accept, query, subscription], { post }) => {
    const typeOf = async (query: string): Promise<string> => {
      const leaving = new AbortController();
      const { status, headers } = await post({ accept }, { query }, leaving.signal);
      leaving.abort();
      return `${status} ${headers.get('content-type')?.split(';')[0]}`;
    };
    expect(await typeOf('{ posts { id } }')).toBe(query);
    expect(await typeOf(PUBLISHED)).toBe(subscription);
  });

  test('queries and mutations are streams with one result, on request', async ({ openStream, token }) => {
    const read = await openStream('{ users(limit: 1) { name } }');
    await read.over();
    expect(await read.results(1)).toMatchObject([
      { data: { users: [{}] }, extensions: { cost: { requestedQueryCost: 1 } } },
    ]);
    expect(read.messages.map(({ event }) => event)).toEqual(['next', 'complete']);
    const written = await openStream(
      'mutation { createPost(input: { title: "By SSE", body: "" }) { title } }',
      { token },
    );
    await written.over();
    expect(await written.results(1)).toMatchObject([{ data: { createPost: { title: 'By SSE' } } }]);
  });
});
