import { expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { cursorOf } from '#shared/event-log/own-cursor.ts';
import { type Asker, type Backend, test } from '../../test/engines/backend.ts';
import { type Made, randomFrom, takeRandomStep } from '../../test/engines/random-history.ts';
import { SEED } from '../../testing/seed.ts';

const STEPS = Number(process.env.AS_OF_STEPS ?? 24);
const LOOKS = 2;

let made: Made;
const askers: (readonly [string, Asker | null])[] = [];
test.beforeAll(async ({ backend }) => {
  const [author, other, reader, admin] = [
    await backend.person('author', 'Ada'),
    await backend.person('author', 'Otto'),
    await backend.person('reader', 'Rita'),
    await backend.person('admin', 'Nora'),
  ];
  askers.push(['anonymous', null], ['author', author], ['admin', admin]);
  made = { people: [author, other, reader, admin], articles: [], comments: [], webhooks: [] };
});
type Body = Readonly<Record<string, unknown>>;
type Seen = { readonly status: number; readonly body: unknown; readonly version: string };

const withoutLinks = (body: unknown): unknown => {
  if (Array.isArray(body)) return body.map(withoutLinks);
  const { _links, requestId, ...rest } = body as Body;
  return rest;
};

const look = async (backend: Backend, path: string, by: Asker | null): Promise<Seen> => {
  const { status, headers, body } = await backend.ask(path, { by });
  return { status, body: withoutLinks(body), version: /^"(\d*)-/.exec(headers.get('etag') ?? '')?.[1] ?? '' };
};

const items = () => [
  ...made.people.map(({ id }) => `/users/${id}`),
  ...made.articles.map((id) => `/articles/${id}`),
  ...made.comments.map((id) => `/comments/${id}`),
  ...made.webhooks.map((id) => `/webhooks/${id}`),
];
const lists = () => [
  ...[
    '/articles?limit=100',
    '/articles?status=draft',
    '/articles?tag=looms&sort=createdAt',
    '/users?limit=100',
    '/webhooks?limit=100',
  ],
  ...['/webhooks?enabled=false', `/articles?author=${made.people[0]?.id}&limit=100`],
  ...made.articles.map((id) => `/articles/${id}/comments`),
  ...made.people.map(({ id }) => `/users/${id}/articles?limit=100`),
];

const ITEMS = {
  user: 'id name email role createdAt updatedAt version',
  post: `id title body tags status cover createdAt updatedAt publishedAt version author { id name email }
    comments { id text author { name } } commentsConnection(last: 2) { edges { cursor node { id } } pageInfo { hasPreviousPage endCursor } }`,
  comment: 'id text createdAt version author { name } post { title status }',
  webhook: 'id url enabled ratePerSecond disabledReason headerNames version owner { name }',
};
const LISTS = `query ($at: String) {
  users(at: $at) { id name email posts(limit: 3) { id } }
  posts(limit: 20, at: $at) { id title author { name } comments(limit: 2) { id } }
  postsConnection(first: 3, filter: { tag: "looms" }, sort: CREATED_AT_ASC, at: $at) { nodes { id tags } pageInfo { hasNextPage } }
  webhooks(filter: { enabled: true }, at: $at) { id url }
}`;

/** The response of GraphQL, at a point in time if requested. */
const query = async (backend: Backend, by: Asker | null, text: string, variables: object): Promise<Body> => {
  const { body } = await backend.ask('/graphql', {
    ...{ by, method: 'POST', body: { query: text, variables } },
    headers: {
      'consistency-token': formatCursor(backend.side.eventLog.identity, await backend.side.eventLog.head()),
    },
  });
  const { data, errors } = body as {
    data?: Body;
    errors?: readonly { message: string; extensions: { code: string } }[];
  };
  return { ...data, ...(errors && { errors: errors.map(({ extensions }) => extensions.code) }) };
};

const queryAll = async (backend: Backend, by: Asker | null, at: string | null): Promise<Body> => {
  const named = {
    user: made.people.map(({ id }) => id),
    post: made.articles,
    comment: made.comments,
    webhook: made.webhooks,
  };
  const items = Object.entries(ITEMS).flatMap(([field, selection]) =>
    (by === null && field === 'webhook' ? [] : named[field as keyof typeof named]).map(async (id) => {
      const found = await query(
        backend,
        by,
        `query ($id: ID!, $at: String) { ${field}(id: $id, at: $at) { ${selection} } }`,
        {
          id: String(id),
          at,
        },
      );
      return [`${field} ${id}`, found] as const;
    }),
  );
  return {
    ...Object.fromEntries(await Promise.all(items)),
    lists: by === null ? {} : await query(backend, by, LISTS, { at }),
  };
};

type Look = { readonly cursor: string; readonly seen: ReadonlyMap<string, Seen>; readonly queried: Body };

/**
 * All answers at a position after which the log did not grow meanwhile; over GraphQL, those for
 * administrators.
 */
const lookAtAll = async (backend: Backend): Promise<Look> => {
  for (;;) {
    const { eventLog } = backend.side;
    const position = await eventLog.head();
    const cursor = cursorOf(eventLog, position, await eventLog.eventAt(position));
    const seen = new Map<string, Seen>();
    for (const [name, by] of askers) {
      const paths = [...items(), ...lists()];
      for (const [index, each] of (await Promise.all(paths.map((path) => look(backend, path, by)))).entries())
        seen.set(`${name} ${paths[index]}`, each);
    }
    const queried = await queryAll(backend, admin(), null);
    expect(JSON.stringify(queried)).not.toContain('"errors"');
    if ((await eventLog.head()) !== position) continue;
    return { cursor, seen, queried };
  }
};

const admin = () => askers.find(([name]) => name === 'admin')?.[1] ?? null;
const at = (path: string, moment: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}at=${encodeURIComponent(moment)}`;

/** Aggregates deleted since then are visible to administrators only. */
const expectedOf = (key: string, then: Seen, isReadableNow: (key: string) => boolean): Seen['body'] => {
  const [name, path = ''] = key.split(' ');
  if (!Array.isArray(then.body)) return withoutWhatIsOnlyNow(then.body as object) as Seen['body'];
  if (name === 'admin') return then.body;
  const kind = /comments$/.test(path)
    ? 'comments'
    : /users\?/.test(path)
      ? 'users'
      : /webhooks/.test(path)
        ? 'webhooks'
        : 'articles';
  return then.body.filter(({ id }: { id: number }) => isReadableNow(`${name} /${kind}/${id}`));
};

const withoutWhatIsOnlyNow = (body: object): object =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'withheld'));

test(`time travel to a cursor or a version returns what was returned then (TEST_SEED=${SEED})`, async ({
  backend,
}) => {
  const random = randomFrom(SEED);
  const looks: Look[] = [];
  for (let step = 1; step <= STEPS; step += 1) {
    await takeRandomStep(backend, random, made);
    if (step % (STEPS / LOOKS) === 0) looks.push(await lookAtAll(backend));
  }
  const readableNow = looks.at(-1)?.seen;
  const isReadableNow = (key: string) => readableNow?.get(key)?.status === 200;
  for (const { cursor, seen, queried } of looks) {
    const checks = [...seen].map(async ([key, then]) => {
      const [name, path = ''] = key.split(' ');
      const by = askers.find(([each]) => each === name)?.[1] ?? null;
      const again = await look(backend, at(path, cursor), by);
      const context = `${key} at ${cursor}`;
      if (then.status === 401) expect([again.status, context]).toEqual([401, context]);
      else if (then.status !== 200 || !(name === 'admin' || isReadableNow(key) || LISTED.test(path)))
        expect([again.status, context]).toEqual([404, context]);
      else expect(again.body, context).toEqual(expectedOf(key, then, isReadableNow));
      if (name === 'admin' && Number(then.version) > 0)
        expect((await look(backend, at(path, `v${then.version}`), by)).body).toMatchObject(
          STABLE[path.split('/')[1] ?? '']?.(then.body) ?? {},
        );
    });
    await Promise.all(checks);
    const then = Object.fromEntries(Object.entries(queried).filter(([key]) => key !== 'lists'));
    const again = await queryAll(backend, admin(), cursor);
    // Later aggregates did not exist then.
    expect(again, cursor).toMatchObject(then);
    expect(again.lists, cursor).toEqual(queried.lists);
  }
});

/** Top-level lists exist for every caller. */
const LISTED = /^\/(?:articles|users|webhooks)(?:\?|$)/;

/** The fields of an item that depend on nothing else. */
const STABLE: Readonly<Record<string, (body: unknown) => object>> = {
  articles: (body) => ({ title: (body as Body).title, status: (body as Body).status }),
  comments: (body) => ({ text: (body as Body).text }),
};
