import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { parseCursor } from '#kernel/base/cursor.ts';
import { test as base } from '../../../test/engines/backend.ts';

type Committed = {
  readonly field: string;
  readonly committed: boolean | null;
  readonly id: string;
  readonly cursor: string;
};
type Body = {
  readonly data: Readonly<Record<string, { readonly id: string }>> | null;
  readonly errors?: readonly {
    readonly path: readonly string[];
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
  readonly extensions: { readonly mutation?: readonly Committed[] };
};

const create = (field: string, title = field): string =>
  `${field}: createPost(input: { title: "${title}", body: "" }) { id }`;

const test = base.extend('asAuthor', { scope: 'file' }, ({ author: by, backend }) => {
  const run = async (query: string, { headers = {}, variables = {} } = {}): Promise<Body> => {
    const asked = { method: 'POST', by, body: { query, variables }, headers };
    return (await backend.ask('/graphql', asked)).body as Body;
  };
  const titlesSince = async (id: string): Promise<readonly string[]> => {
    const { body } = await backend.ask('/articles?sort=createdAt&limit=100', { by });
    return (body as { id: number; title: string }[])
      .filter((article) => article.id >= Number(id))
      .map(({ title }) => title);
  };
  return { run, titlesSince };
});

test('an error lists the fields committed before it, with ids and cursors', async ({
  asAuthor: { run, titlesSince },
  backend,
}) => {
  const { data, errors, extensions } = await run(
    `mutation { ${create('a')} ${create('b')} c: createPost(input: { title: " ", body: "" }) { id } ${create('d')} }`,
  );
  expect(data).toBeNull();
  const [a, b] = extensions.mutation as [Committed, Committed];
  const committedBefore = [a, b].map(({ field, id, cursor }) => ({ field, id, cursor }));
  expect(errors).toMatchObject([
    { path: ['c'], extensions: { code: 'invalid_request', committed: false, committedBefore } },
  ]);
  // The fields after it did not run, and are not listed.
  expect(extensions.mutation).toEqual([
    { field: 'a', committed: true, id: expect.stringMatching(/^\d+$/), cursor: expect.any(String) },
    { field: 'b', committed: true, id: expect.stringMatching(/^\d+$/), cursor: expect.any(String) },
    { field: 'c', committed: false },
  ]);
  expect(await titlesSince(a.id)).toEqual(['a', 'b']);
  expect(parseCursor(backend.side.eventLog.identity, b.cursor as never)).toBe(
    await backend.side.eventLog.head(),
  );
});

test('a mutation without errors has cursors as well', async ({ asAuthor: { run } }) => {
  const { data, extensions } = await run(`mutation { ${create('a')} }`);
  expect(extensions.mutation).toEqual([
    { field: 'a', committed: true, id: data?.a?.id, cursor: expect.any(String) },
  ]);
  expect((await run('{ __typename }')).extensions.mutation).toBeUndefined();
});

test('an error below a committed field says so', async ({ asAuthor: { run, titlesSince } }) => {
  const { data, errors, extensions } =
    await run(`mutation { ${create('a')} b: createPost(input: { title: "b", body: "" }) {
    id commentsConnection(first: 1, after: "none") { nodes { id } } } }`);
  const [a, b] = extensions.mutation as [Committed, Committed];
  expect(data).toBeNull();
  expect(errors).toMatchObject([
    {
      path: ['b', 'commentsConnection'],
      extensions: {
        committed: true,
        id: b.id,
        cursor: b.cursor,
        committedBefore: [{ field: 'a', id: a.id }],
      },
    },
  ]);
  expect(await titlesSince(a.id)).toEqual(['a', 'b']);
});

test('a field that the domain refuses was not committed, whatever its name', async ({
  asAuthor: { run },
}) => {
  const query = 'mutation { first: deletePost(id: "1") second: deletePost(id: "x") }';
  const { errors, extensions } = await run(query);
  expect(errors).toMatchObject([
    { path: ['first'], extensions: { code: 'article_not_found', committed: false, committedBefore: [] } },
  ]);
  expect(extensions.mutation).toEqual([{ field: 'first', committed: false }]);
});

test('a repetition with the same key commits nothing twice, and returns the same', async ({
  asAuthor: { run, titlesSince },
}) => {
  const headers = { 'idempotency-key': randomUUID() };
  const query = `mutation ($title: String!) { ${create('a')} b: createPost(input: { title: $title, body: "" }) { id } }`;
  const first = await run(query, { headers, variables: { title: '' } });
  expect(first.extensions.mutation).toMatchObject([{ committed: true }, { field: 'b', committed: false }]);
  const second = await run(query, { headers, variables: { title: 'b' } });
  expect(second.extensions.mutation?.[0]).toEqual(first.extensions.mutation?.[0]);
  expect(await titlesSince(second.data?.a?.id ?? '')).toEqual(['a', 'b']);
  // The longest key that REST accepts, though each field adds its name.
  const long = { 'idempotency-key': 'k'.repeat(255) };
  const [one, other] = [
    await run(`mutation { ${create('a')} }`, { headers: long }),
    await run(`mutation { ${create('a')} }`, { headers: long }),
  ];
  expect(other.data).toEqual(one.data);
  expect(one.errors).toBeUndefined();
});

test('if the log does not answer, the outcome is unknown', async ({ asAuthor: { run }, backend }) => {
  const { eventLog } = backend.side;
  const { append } = eventLog;
  const { LogUnavailable } = await import('#shared/event-log/errors.ts');
  Object.assign(eventLog, { append: () => Promise.reject(new LogUnavailable('cut off')) });
  try {
    const { errors, extensions } = await run(`mutation { ${create('a')} }`);
    expect(errors).toMatchObject([{ path: ['a'], extensions: { code: 'unavailable', committed: null } }]);
    expect(extensions.mutation).toEqual([{ field: 'a', committed: null }]);
  } finally {
    Object.assign(eventLog, { append });
  }
});
