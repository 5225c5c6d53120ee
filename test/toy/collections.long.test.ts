import { afterAll, beforeAll, expect, test } from 'vitest';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';
import { publishingWithCollections } from './collections.ts';

/** An aggregate added to publishing by one declaration, on every surface. The tests depend on each other. */
const resources = new AsyncDisposableStack();
let installation: Installation;
let people: People;
let session: RestSession;
let ada: Person;
let bert: Person;
let articles: readonly number[];
let collection: string;

const merge = 'application/merge-patch+json';

beforeAll(async () => {
  installation = resources.use(
    await startInstallation({
      of: { domain: publishingWithCollections, main: 'test/toy/collections-main.ts' },
    }),
  );
  people = await openPeople(installation);
  session = restSessionOver(restClientOf(installation));
  [ada, bert] = (await Promise.all(['Ada', 'Bert'].map((name) => people.signUp(name)))) as [Person, Person];
  articles = await Promise.all(
    ['One', 'Two', 'Three'].map(
      async (title) =>
        (
          await session.write('POST', '/articles', {
            token: ada.token,
            body: { title, body: 'x', publish: true },
          })
        ).written.id,
    ),
  );
});
afterAll(() => resources.disposeAsync());

const read = async <Body = Record<string, unknown>>(path: string, by?: Person) =>
  session.read<Body>(path, { token: by?.token });
const graphql = async (query: string, by?: Person) =>
  (await graphqlClientOf(installation)(query, { token: by?.token })) as never as Answer;
type Answer = {
  readonly data: unknown;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
};
const shown = async (by?: Person) =>
  (await read<{ articleId: number }[]>(`${collection}/items`, by)).body.map(({ articleId }) => articleId);

test('a user makes a collection, and articles are added, moved and removed', async () => {
  const { written } = await session.write('POST', '/collections', {
    token: ada.token,
    body: { title: 'On engines' },
  });
  collection = `/collections/${written.id}`;
  for (const articleId of articles)
    await session.write('POST', `${collection}/items`, { token: ada.token, body: { articleId } });
  expect(await shown(ada)).toEqual(articles);
  const [one, two, three] = articles;
  await session.write('POST', `${collection}/items/${three}/move`, {
    token: ada.token,
    body: { before: one },
  });
  expect(await shown(ada)).toEqual([three, one, two]);
  await session.write('DELETE', `${collection}/items/${one}`, { token: ada.token });
  await session.write('POST', `${collection}/items`, {
    token: ada.token,
    body: { articleId: one, note: 'Again' },
  });
  expect(await shown(ada)).toEqual([three, two, one]);
  expect((await read(`${collection}/items/${one}`, ada)).body).toMatchObject({
    ...{ articleId: one, note: 'Again' },
    _links: { article: { href: `/articles/${one}` }, 'move-item': { method: 'POST' } },
  });
  await session.write('PATCH', collection, { token: ada.token, type: merge, body: { visibility: 'public' } });
  expect(await shown()).toEqual([three, two, one]);
});

test('GraphQL shows and changes it like REST', async () => {
  const id = collection.split('/')[2];
  const [one, two, three] = articles.map(String);
  const query = `{ collection(id: ${id}) { title itemCount curator { name } items { note post { id title } } itemsConnection(first: 1) { totalCount nodes { post { id } } } } }`;
  expect((await graphql(query)).data).toEqual({
    collection: {
      ...{ title: 'On engines', itemCount: 3, curator: { name: 'Ada' } },
      items: [
        { note: null, post: { id: three, title: 'Three' } },
        { note: null, post: { id: two, title: 'Two' } },
        { note: 'Again', post: { id: one, title: 'One' } },
      ],
      itemsConnection: { totalCount: 3, nodes: [{ post: { id: three } }] },
    },
  });
  const move = `mutation { moveCollectionItem(id: ${id}, postId: ${one}, before: ${three}) { collection { items { post { id } } } } }`;
  expect((await graphql(move, bert)).errors?.[0]?.extensions.code).toBe('forbidden');
  expect((await graphql(move, ada)).data).toMatchObject({
    moveCollectionItem: {
      collection: { items: [{ post: { id: one } }, { post: { id: three } }, { post: { id: two } }] },
    },
  });
});

test('an unpublished article is hidden in it, and a deleted one is removed', async () => {
  const [one, two, three] = articles as [number, number, number];
  await session.write('POST', `/articles/${two}/unpublish`, { token: ada.token });
  const hidden = () =>
    graphql(`{ collection(id: ${collection.split('/')[2]}) { items { post { title } } } }`);
  const posts = async () =>
    ((await hidden()).data as { collection: { items: { post: { title: string } | null }[] } }).collection
      .items;
  await until(posts, (items) => items.some(({ post }) => post === null));
  expect((await posts()).map(({ post }) => post?.title)).toEqual(['One', 'Three', undefined]);
  await session.write('DELETE', `/articles/${three}`, { token: ada.token });
  await until(shown, (left) => left.length === 2);
  expect(await shown()).toEqual([one, two]);
  const removals = async () =>
    (await read<{ type: string; actor: string }[]>(`${collection}/history`, ada)).body.filter(
      ({ type }) => type === 'collection.itemRemoved',
    );
  expect((await removals()).map(({ actor }) => actor)).toEqual([
    'system:process-manager',
    `user:${ada.userId}`,
  ]);
  // Added after its deletion, it is removed as well.
  await session.write('POST', `${collection}/items`, { token: ada.token, body: { articleId: three } });
  await until(removals, (all) => all.length === 3);
  expect(await shown()).toEqual([one, two]);
});

test('it is deleted with its owner, and everything is proven', async () => {
  await session.write('DELETE', `/users/${ada.userId}`, { token: people.administrator.token });
  await until(
    () => session.read(collection, { token: people.administrator.token }),
    ({ status }) => status === 404,
  );
  expect(await operate(['audit', 'verify'], installation.settings, publishingWithCollections)).toContain(
    'Proven',
  );
});
