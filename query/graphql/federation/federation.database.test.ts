import { createRequire } from 'node:module';
import { getStitchedSchemaFromSupergraphSdl } from '@graphql-tools/federation';
import { composeServices, compositionHasErrors } from '@theguild/federation-composition';
import { buildSchema, type DocumentNode, execute, type GraphQLSchema, parse, print } from 'graphql';
import { expect } from 'vitest';
import { type Asker, test as base } from '../../../test/engines/backend.ts';

type Answer = {
  data?: Record<string, unknown> | null;
  errors?: { path?: unknown; extensions: { code: string } }[];
  extensions?: object;
};

const test = base
  .extend('ids', { scope: 'file' }, async ({ author, write }) => {
    const engines = { title: 'Engines', body: '', tags: [], publish: true };
    const published = await write(author, 'POST', '/articles', engines);
    const draft = await write(author, 'POST', '/articles', { title: 'Secret', body: '', tags: [] });
    const comment = await write(author, 'POST', `/articles/${published}/comments`, { text: 'Indeed' });
    return { published: String(published), draft: String(draft), comment: String(comment) };
  })
  .extend(
    'query',
    { scope: 'file' },
    ({ backend, cursorNow }) =>
      async (text: string, variables: object = {}, by: Asker | null = null): Promise<Answer> => {
        const headers = { 'consistency-token': await cursorNow() };
        const body = { query: text, variables };
        return (await backend.ask('/graphql', { by, method: 'POST', body, headers })).body as Answer;
      },
  );

const ENTITIES = `query ($of: [_Any!]!) { _entities(representations: $of) {
  __typename ... on Post { id title author { name } } ... on User { name email } ... on Comment { text post { title } } } }`;
const SDL = '{ _service { sdl } }';

test('entities are those that the viewer may read, in the order of the request', async ({
  author,
  ids: { published, draft, comment },
  query,
}) => {
  const of = [
    { __typename: 'Post', id: published },
    { __typename: 'Post', id: draft },
    { __typename: 'User', id: String(author.id) },
    { __typename: 'Comment', id: comment },
    { __typename: 'Post', id: comment },
    { __typename: 'User', id: 'x' },
    { __typename: 'Post', id: Number(published) },
  ];
  const post = { __typename: 'Post', id: published, title: 'Engines', author: { name: 'Ada' } };
  const told = { __typename: 'Comment', text: 'Indeed', post: { title: 'Engines' } };
  const user = (email: string | null) => ({ __typename: 'User', name: 'Ada', email });
  expect(await query(ENTITIES, { of })).toMatchObject({
    data: { _entities: [post, null, user(null), told, null, null, post] },
  });
  const asAuthor = await query(ENTITIES, { of }, author);
  expect(asAuthor.data?._entities).toMatchObject([
    post,
    { id: draft, title: 'Secret' },
    user(null),
    told,
    null,
    null,
    post,
  ]);
});

test('many entities are answered in one request, and cost as much as their number', async ({
  author,
  ids: { published, draft },
  query,
}) => {
  const of = Array.from({ length: 300 }, (_, index) => ({
    __typename: 'Post',
    id: index % 2 === 0 ? published : draft,
  }));
  const { data, extensions } = await query(
    'query ($of: [_Any!]!) { _entities(representations: $of) { ... on Post { id } } }',
    { of },
    author,
  );
  expect(data?._entities).toEqual(of.map(({ id }) => ({ id })));
  expect(extensions).toMatchObject({ cost: { requestedQueryCost: 300 } });
  const { errors } = await query(ENTITIES, { of: [...of, ...of] }, author);
  expect(errors).toMatchObject([{ extensions: { code: 'too_costly', found: 1_800 } }]);
});

test('a token without scopes gets public entities', async ({ author, ids: { published, draft }, query }) => {
  const of = [published, draft].map((id) => ({ __typename: 'Post', id }));
  const anonymous = await query(ENTITIES, { of });
  expect((await query(ENTITIES, { of }, { ...author, scopes: ['write:users'] })).data).toEqual(
    anonymous.data,
  );
  expect(anonymous.data?._entities).toMatchObject([{ id: published }, null]);
});

test.for<[of: unknown[], code: string]>([
  [[{ id: '1' }], 'invalid_variables'],
  [['Post'], 'invalid_variables'],
  [[null], 'invalid_variables'],
  [[{ __typename: 'Webhook', id: '1' }], 'malformed_request'],
  [[{ __typename: 'Post' }], 'malformed_request'],
  [[{ __typename: '__proto__', id: 1 }], 'malformed_request'],
])('an invalid representation is refused: %j', async ([of, code], { query }) => {
  expect((await query(ENTITIES, { of })).errors).toMatchObject([{ extensions: { code } }]);
});

/**
 * The library as Node resolves it for the gateway: vitest gives tests its development build, and the two are
 * incompatible.
 */
const gatewayGraphql = createRequire(import.meta.url)('graphql') as typeof import('graphql');

/** Another service, which counts likes of posts. */
const LIKES = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  type Post @key(fields: "id") { id: ID! likes: Int! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type Query { liked: [Post!]! }`;

const likesSchema = (): GraphQLSchema =>
  buildSchema(`type Post { id: ID! likes: Int! } scalar _Any union _Entity = Post
    type Query { liked: [Post!]! _entities(representations: [_Any!]!): [_Entity]! }`);

type ExecutionRequest = {
  readonly document: DocumentNode;
  readonly variables?: Readonly<Record<string, unknown>>;
};

const likesOf =
  (published: string) =>
  ({ document, variables }: ExecutionRequest) =>
    execute({
      schema: likesSchema(),
      document,
      ...(variables && { variableValues: variables }),
      rootValue: {
        liked: [{ id: published, likes: 7 }],
        _entities: ({ representations }: { representations: { id: string }[] }) =>
          representations.map(({ id }) => ({ __typename: 'Post', id, likes: id === published ? 7 : 0 })),
      },
    });

test('the subgraph composes with another that extends posts, and a gateway answers one query from both', async ({
  ids: { published },
  query,
}) => {
  const { data } = await query(SDL);
  const sdl = String((data?._service as { sdl: string } | undefined)?.sdl);
  expect(sdl).not.toMatch(/_entities|_service|_Any|directive @/);
  const composed = composeServices([
    { name: 'annals', typeDefs: parse(sdl), url: 'http://annals' },
    { name: 'likes', typeDefs: parse(LIKES), url: 'http://likes' },
  ]);
  if (compositionHasErrors(composed))
    throw new Error(composed.errors.map(({ message }) => message).join('\n'));
  const annals = async ({ document, variables }: ExecutionRequest) => query(print(document), variables);
  const gateway = getStitchedSchemaFromSupergraphSdl({
    supergraphSdl: composed.supergraphSdl,
    onSubschemaConfig(subschema) {
      subschema.executor = (subschema.name === 'ANNALS' ? annals : likesOf(published)) as never;
    },
  });
  const document = parse(
    'query ($id: ID!) { liked { title likes author { name } } post(id: $id) { title likes } }',
  );
  const answer = await gatewayGraphql.execute({
    schema: gateway,
    document,
    variableValues: { id: published },
    contextValue: {},
  });
  expect(answer).toMatchObject({
    data: {
      liked: [{ title: 'Engines', likes: 7, author: { name: 'Ada' } }],
      post: { title: 'Engines', likes: 7 },
    },
  });
});
