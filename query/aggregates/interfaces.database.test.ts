// Over 200 lines, because all tests share the installation made at the beginning.
import { expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { addComment, draftArticle } from '../../test/engines/command-side.ts';

/** REST and GraphQL, now and then, over one installation of publishing. */
type Answer = {
  readonly groups: readonly { readonly key: Record<string, unknown>; readonly count?: number }[];
  readonly hasMore: boolean;
  readonly _links: { readonly self: { readonly href: string } };
};

const test = base
  .extend('filled', { scope: 'file' }, async ({ author, stranger, reader, backend: { side } }) => {
    const published = await draftArticle(side, author.id);
    await draftArticle(side, author.id, false);
    await draftArticle(side, stranger.id);
    await draftArticle(side, stranger.id, false);
    const draft = await draftArticle(side, stranger.id, false);
    for (let each = 0; each < 3; each += 1) await addComment(side, reader.id, published);
    return { published, draft };
  })
  .extend(
    'read',
    { scope: 'file' },
    ({ backend, filled: _filled }) =>
      async (path: string, by: Asker | null) => {
        const { status, body, headers } = await backend.ask(path, { by });
        return { status, body: body as Answer, headers };
      },
  )
  .extend(
    'graphql',
    { scope: 'file' },
    ({ backend, filled: _filled }) =>
      async (query: string, by: Asker | null) => {
        const { body } = await backend.ask('/graphql', { by, method: 'POST', body: { query } });
        return body as {
          readonly data?: Readonly<Record<string, Answer>>;
          readonly errors?: readonly { readonly extensions: object }[];
        };
      },
  );

const BY_STATUS = '/articles/aggregate?groupBy=author,status&measures=count,max(publishedAt)&sort=-count';

test('each caller gets the groups of what they may read', async ({
  author,
  stranger,
  admin,
  reader,
  read,
}) => {
  const counts = async (by: Asker | null, path = '/articles/aggregate?groupBy=status') =>
    Object.fromEntries((await read(path, by)).body.groups.map(({ key, count }) => [key.status, count]));
  expect(await counts(null)).toEqual({ published: 2 });
  expect(await counts(reader)).toEqual({ published: 2 });
  expect(await counts(author)).toEqual({ draft: 1, published: 2 });
  expect(await counts(stranger)).toEqual({ draft: 2, published: 2 });
  expect(await counts(admin)).toEqual({ draft: 3, published: 2 });
  expect(await counts(admin, `/users/${stranger.id}/articles/aggregate?groupBy=status`)).toEqual({
    draft: 2,
    published: 1,
  });
  expect(await counts(admin, `/articles/aggregate?groupBy=status&author=${author.id}`)).toEqual({
    draft: 1,
    published: 1,
  });
  expect(await counts(admin, '/articles/aggregate?groupBy=status&q=nothing-like-it')).toEqual({});
});

test('the list below a parent has its groups too, and is hidden with it', async ({
  admin,
  filled: { published, draft },
  read,
  reader,
}) => {
  expect((await read(`/articles/${published}/comments/aggregate`, null)).body).toMatchObject({
    groups: [{ key: {}, count: 3 }],
    hasMore: false,
  });
  const { body } = await read(`/articles/${published}/comments/aggregate?groupBy=author`, reader);
  expect(body.groups).toEqual([{ key: { author: reader.id }, count: 3 }]);
  expect((await read(`/articles/${draft}/comments/aggregate`, reader)).status).toBe(404);
  expect((await read(`/articles/${draft}/comments/aggregate`, admin)).body.groups).toEqual([
    { key: {}, count: 0 },
  ]);
});

test('GraphQL returns the same groups', async ({
  admin,
  author,
  filled: { published },
  graphql,
  read,
  reader,
}) => {
  const text = `{ postsAggregate(groupBy: [AUTHOR, STATUS], sort: [COUNT_DESC]) {
    groups { key { author status } count max { publishedAt } } hasMore asOf } }`;
  for (const by of [null, reader, author, admin]) {
    const { groups } = (await read(BY_STATUS, by)).body;
    const texts = groups.map(({ key, ...group }) => ({
      ...group,
      key: { ...key, author: String(key.author) },
    }));
    expect((await graphql(text, by)).data).toEqual({
      postsAggregate: { groups: texts, hasMore: false, asOf: null },
    });
  }
  const nested = `{ post(id: "${published}") { commentsAggregate(groupBy: [DAY_OF_CREATED_AT]) { groups { number: count } } } }`;
  expect((await graphql(nested, null)).data).toEqual({
    post: { commentsAggregate: { groups: [{ number: 3 }] } },
  });
  const ranged =
    '{ postsAggregate(groupBy: [AUTHOR], having: [{ measure: COUNT, min: 3 }]) { groups { count } } }';
  expect((await graphql(ranged, admin)).data).toEqual({ postsAggregate: { groups: [{ count: 3 }] } });
  const filtered = '{ postsAggregate(filter: { status: draft }) { groups { count } hasMore } }';
  expect((await graphql(filtered, admin)).data).toEqual({
    postsAggregate: { groups: [{ count: 3 }], hasMore: false },
  });
});

test('GraphQL answers groups of which no measure is selected', async ({ admin, graphql }) => {
  const { data, errors } = await graphql('{ postsAggregate { groups { max { __typename } } } }', admin);
  expect(errors).toBeUndefined();
  expect(data?.postsAggregate?.groups).toEqual([{ max: { __typename: 'PostAggregateMax' } }]);
  const query =
    'query ($x: Boolean = false) { postsAggregate { groups { max { publishedAt @include(if: $x) } } } }';
  expect((await graphql(query, admin)).data?.postsAggregate?.groups).toEqual([{ max: {} }]);
});

test('below an owner, GraphQL filters as the list does', async ({ author, admin, graphql }) => {
  const of = async (filter: string) => {
    const query = `{ user(id: ${author.id}) { postsAggregate(filter: { status: ${filter} }) { groups { count } } } }`;
    return (await graphql(query, admin)).data?.user;
  };
  expect(await of('draft')).toEqual({ postsAggregate: { groups: [{ count: 1 }] } });
});

test('a former state is grouped as it was', async ({
  admin,
  author,
  backend,
  cursorNow,
  graphql,
  read,
  stranger,
}) => {
  const path = '/articles/aggregate?groupBy=status,author&measures=count,max(publishedAt),min(updatedAt)';
  const now = await cursorNow();
  const before = new Map<Asker | null, Answer>();
  for (const by of [null, author, stranger, admin]) {
    const [present, past] = [await read(path, by), await read(`${path}&at=${now}`, by)];
    expect(past.status).toBe(200);
    expect(past.headers.get('as-of')).toBe(now);
    expect({ ...past.body, _links: null }).toEqual({ ...present.body, _links: null });
    before.set(by, present.body);
  }
  const text = `query { postsAggregate(groupBy: [STATUS], at: "${now}") { groups { key { status } count } asOf } }`;
  const then = (await graphql(text, admin)).data;
  expect(then).toMatchObject({ postsAggregate: { asOf: now } });
  await draftArticle(backend.side, author.id);
  expect((await read(path, admin)).body.groups).not.toEqual(before.get(admin)?.groups);
  for (const by of [null, author, stranger, admin])
    expect((await read(`${path}&at=${now}`, by)).body.groups).toEqual(before.get(by)?.groups);
  expect((await graphql(text, admin)).data).toEqual(then);
  const refused = await read(`${path}&at=${now}&q=engines`, admin);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
});

test('it needs none of the connections of other reads', async ({ backend, read }) => {
  const statements = async (path: string): Promise<number> => {
    const before = backend.statements();
    expect((await read(path, null)).status).toBe(200);
    return backend.statements() - before;
  };
  expect([await statements('/articles'), await statements(BY_STATUS)]).toEqual([1, 0]);
});

test.for([
  ['groupBy=title(x)', 'groupBy', /^Must be parts of groups: author, title, status, /],
  ['groupBy=body', 'groupBy', /^Must be parts of groups/],
  ['groupBy=createdAt', 'groupBy', /day\(createdAt\), week\(createdAt\), month\(createdAt\)/],
  ['groupBy=day(createdAt),month(createdAt)', 'groupBy', /^Must not have createdAt twice\.$/],
  ['measures=sum(title)', 'measures', /^Must be measures: count, min\(publishedAt\), /],
  ['measures=', 'measures', /^Must be measures/],
  ['measures=count,count', 'measures', /^Must not have count twice\.$/],
  ['having=3..', 'having', /^Must be measures with ranges, such as count:3\.\./],
  ['having=count', 'having', /^Must be measures with ranges/],
  ['having=count:..', 'having', /^Must be measures with ranges/],
  ['having=max(createdAt):1..', 'having', /measures that are numbers: count\.$/],
  ['sort=status', 'sort', /^status is neither a measure nor in groupBy\.$/],
  ['sort=-titel', 'sort', /^Must be one of these, with or without a minus/],
  ['limit=0', 'limit', /^Must be a whole number from 1 to 1000\.$/],
  ['limit=1001', 'limit', /^Must be a whole number from 1 to 1000\.$/],
  ['status=printed', 'status', /^Must be one of these: “draft”, “published”\.$/],
  ['after=x', 'after', /^There is no such parameter\.$/],
  ['groupBy=status&groupBy=author', 'groupBy', /^Must be a text\.$/],
] as const)('%s is refused in one sentence', async ([query, parameter, sentence], { read }) => {
  const { status, body } = await read(`/articles/aggregate?${query}`, null);
  expect(status).toBe(400);
  const { code, errors } = body as unknown as {
    readonly code: string;
    readonly errors: readonly { readonly parameter: string; readonly detail: string }[];
  };
  expect([code, errors.map((each) => each.parameter)]).toEqual(['invalid_parameter', [parameter]]);
  expect(errors[0]?.detail).toMatch(sentence);
});

test('another method, and an item called aggregate, are refused', async ({ backend, read }) => {
  const { status, headers } = await fetch(`${backend.url}/articles/aggregate`, { method: 'DELETE' });
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  expect((await read('/articles/aggregates', null)).status).toBe(404);
});

test('users are counted, and what a caller may not read is not grouped', async ({ admin, read, reader }) => {
  const { body } = await read('/users/aggregate?groupBy=role', admin);
  expect(body.groups.map(({ key, count }) => [key.role, count])).toEqual([
    ['admin', 1],
    ['author', 2],
    ['reader', 1],
  ]);
  const own = await read('/users/aggregate?groupBy=role', reader);
  expect(own.body.groups).toEqual([
    { key: { role: 'reader' }, count: 1 },
    { key: { role: null }, count: 3 },
  ]);
  expect(await read('/users/aggregate?groupBy=role', null)).toMatchObject({
    status: 400,
    body: { errors: [{ parameter: 'groupBy', detail: 'You may not read role.' }] },
  });
});
