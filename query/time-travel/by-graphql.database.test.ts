import { expect } from 'vitest';
import { cursorOf } from '#shared/event-log/own-cursor.ts';
import { type Asker, type Backend, test } from '../../test/engines/backend.ts';
import { addComment, as, by, draftArticle } from '../../test/engines/command-side.ts';

const send = (backend: Backend, command: Parameters<Backend['side']['send']>[0], asker: Asker) =>
  backend.side.send(command, by(as(asker.id, asker.role)));
const cursorNow = async ({ side: { eventLog } }: Backend) => {
  const head = await eventLog.head();
  return cursorOf(eventLog, head, await eventLog.eventAt(head));
};

test('over GraphQL, everything asked of an item is at that time, except its history', async ({
  admin,
  author,
  backend,
  reader,
}) => {
  const articleId = await draftArticle(backend.side, author.id);
  await addComment(backend.side, reader.id, articleId);
  const at = await cursorNow(backend);
  await send(backend, { type: 'EditArticle', articleId, title: 'Later' }, author);
  await addComment(backend.side, reader.id, articleId);
  const query = async (text: string, asker: Asker | null = admin) => {
    const reply = await backend.ask('/graphql', {
      by: asker,
      method: 'POST',
      body: { query: text },
      headers: { 'consistency-token': await cursorNow(backend) },
    });
    return reply.body as {
      data: never;
      errors?: { extensions: { code: string } }[];
      extensions: { cost: { requestedQueryCost: number } };
    };
  };
  const fields =
    'asOf title version comments { text post { title } } history(first: 1) { nodes { version type changes { field from to } } }';
  const { data, extensions } = await query(
    `{ was: post(id: ${articleId}, at: "${at}") { ${fields} } is: post(id: ${articleId}) { ${fields} } }`,
  );
  expect(data).toMatchObject({
    was: {
      asOf: at,
      title: 'On engines',
      version: 2,
      comments: [{ post: { title: 'On engines' } }],
      history: { nodes: [{ version: 2 }] },
    },
    is: {
      asOf: null,
      title: 'Later',
      comments: [{}, {}],
      history: { nodes: [{ version: 3, changes: [{ field: 'title', from: 'On engines', to: 'Later' }] }] },
    },
  });
  expect(extensions.cost.requestedQueryCost).toBeGreaterThan(50);
  const codes = async (text: string, asker?: Asker | null) =>
    (await query(text, asker)).errors?.map(({ extensions: { code } }) => code);
  const counted = await query(
    `{ was: post(id: ${articleId}, at: "${at}") { commentsConnection { totalCount } } is: post(id: ${articleId}) { commentsConnection { totalCount } } postsConnection(at: "${at}") { totalCount nodes { id } } }`,
  );
  expect(counted).toMatchObject({
    data: {
      was: { commentsConnection: { totalCount: 1 } },
      is: { commentsConnection: { totalCount: 2 } },
      postsConnection: { totalCount: 1, nodes: [{ id: String(articleId) }] },
    },
  });
  expect(await codes(`{ posts(at: "${at}", sort: PUBLISHED_AT_DESC) { id } }`)).toEqual([
    'invalid_parameter',
  ]);
  expect(await codes(`{ posts(at: "${at}", filter: { search: "x" }) { id } }`)).toEqual([
    'invalid_parameter',
  ]);
  expect(await codes(`{ post(id: ${articleId}) { history { nodes { id } } } }`, null)).toEqual([
    'unauthenticated',
  ]);
  const page = await query(
    `{ post(id: ${articleId}) { history(first: 2) { edges { cursor node { version actor client } } pageInfo { hasNextPage endCursor } } } }`,
    author,
  );
  expect(page.data).toMatchObject({
    post: {
      history: {
        edges: [{ node: { version: 3, client: 'test-client' } }, {}],
        pageInfo: { hasNextPage: true },
      },
    },
  });
  const { endCursor } = (page.data as { post: { history: { pageInfo: { endCursor: string } } } }).post.history
    .pageInfo;
  const rest = await query(
    `{ post(id: ${articleId}) { history(after: "${endCursor}") { nodes { version } pageInfo { hasNextPage } } } }`,
  );
  expect(rest.data).toEqual({
    post: { history: { nodes: [{ version: 1 }], pageInfo: { hasNextPage: false } } },
  });
});
