// Over 200 lines, because it is one list: what each subscription delivers, and who may open it.
import { describe, expect } from 'vitest';
import type { GraphqlStream } from '../../testing/graphql/graphql-stream.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { basic } from '../engines/oauth.ts';

const test = sharedTest.extend(
  'change',
  { scope: 'file' },
  ({ ada, graphql }) =>
    async (mutation: string, { token }: TokenHolder = ada): Promise<string> => {
      const sent = `mutation { ${mutation} }`;
      const { data, errors } = await graphql<Record<string, { id: string } | string>>(sent, { token });
      expect(errors).toBeUndefined();
      const [changed] = Object.values(data);
      return typeof changed === 'object' ? changed.id : String(changed);
    },
);

type Notification = Record<
  string,
  Record<string, unknown> & { readonly cursor: string; readonly type: string }
>;
const received = async (stream: GraphqlStream, count: number) =>
  (await stream.results<Notification>(count)).map(({ data, errors }) => {
    expect(errors).toBeUndefined();
    return Object.values(data ?? {})[0];
  });

describe('a subscription', () => {
  test.for<[string, (id: string, after: string) => string, readonly object[]]>([
    [
      'articlePublished',
      (_id, after) =>
        `articlePublished(after: "${after}") { cursor type at subjectId article { title status author { name } } }`,
      [
        {
          type: 'article.published',
          article: { title: 'Told', status: 'published', author: { name: 'Ada' } },
        },
      ],
    ],
    [
      'articleChanged',
      (id, after) =>
        `articleChanged(id: ${id}, after: "${after}") { cursor type at subjectId article { title } }`,
      [
        { type: 'article.edited', article: { title: 'Told' } },
        { type: 'article.published', article: { title: 'Told' } },
      ],
    ],
    [
      'commentAdded',
      (id, after) =>
        `commentAdded(articleId: ${id}, after: "${after}") { cursor type at comment { text author { name } post { title } } }`,
      [
        {
          type: 'comment.added',
          comment: { text: 'Indeed', author: { name: 'Ada' }, post: { title: 'Told' } },
        },
      ],
    ],
    [
      'changes',
      (_id, after) =>
        `changes(types: ["article.edited", "comment.edited"], after: "${after}") { cursor type article { title } comment { text } user { id } }`,
      [
        { type: 'article.edited', article: { title: 'Told' }, comment: null, user: null },
        { type: 'comment.edited', article: null, comment: { text: 'Indeed.' }, user: null },
      ],
    ],
  ])(
    '%s delivers its own events only',
    async ([field, query, expected], { ada: { token }, change, graphql, openStream }) => {
      const id = await change('createPost(input: { title: "Draft", body: "" }) { id }');
      // Another replica may answer than the one that wrote the draft, and a subscription without a cursor
      // begins where its replica is.
      const { data } = await until(
        () => graphql<{ post: unknown; cursor: string }>(`{ post(id: ${id}) { id } cursor }`, { token }),
        ({ data: { post } }) => post !== null,
      );
      const stream = await openStream(`subscription { ${query(id, data.cursor)} }`, { token });
      await change(`updatePost(id: ${id}, changes: { title: "Told" }) { id }`);
      await change(`publishPost(id: ${id}) { id }`);
      const comment = await change(`addComment(postId: ${id}, input: { text: "Indeed" }) { id }`);
      // A payload has the text at the time of its delivery.
      if (field === 'commentAdded') await received(stream, expected.length);
      await change(`updateComment(id: ${comment}, text: "Indeed.") { id }`);
      const seen = await received(stream, expected.length);
      expect(seen).toMatchObject(expected);
      // Its cursor is the one to resume with.
      expect(stream.messages.map(({ id }) => id)).toEqual(seen.map((each) => each?.cursor));
      expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    },
  );

  test('userChanged shows private changes to the user, and only the name to others', async ({
    ada,
    change,
    openStream,
    people,
  }) => {
    const query = `subscription { userChanged(id: ${ada.userId}) { type subjectId user { name email } } }`;
    const [own, other] = [await openStream(query, { token: ada.token }), await openStream(query)];
    await change(
      `updateUser(id: ${ada.userId}, changes: { email: "ada@new.example" }) { id }`,
      people.administrator,
    );
    await change(`updateUser(id: ${ada.userId}, changes: { name: "Ada" }) { id }`);
    await change(`updateUser(id: ${ada.userId}, changes: { name: "Augusta" }) { id }`);
    const subjectId = String(ada.userId);
    const common = { type: 'user.updated', subjectId };
    expect((await received(other, 1))[0]).toEqual({ ...common, user: { name: 'Augusta', email: null } });
    const [address, name] = await received(own, 2);
    expect(address).toMatchObject({ ...common, user: { email: 'ada@new.example' } });
    expect(name).toEqual({ ...common, user: { name: 'Augusta', email: 'ada@new.example' } });
    await change(`updateUser(id: ${ada.userId}, changes: { name: "Ada" }) { id }`);
  });

  test('resumes by Last-Event-ID or after, without gaps or repetition', async ({
    openStream,
    publishing: { publish },
  }) => {
    const query =
      'subscription ($after: Cursor) { articlePublished(after: $after) { cursor article { id } } }';
    const first = await openStream(query);
    const ids = [await publish('1'), await publish('2'), await publish('3')];
    const seen = (await received(first, 3)).map((each) => each?.cursor ?? '');
    await first.close();
    ids.push(await publish('4'), await publish('5'));
    const articles = () => ids.map((id) => ({ id }));
    const since = async (options: Parameters<typeof openStream>[1], count: number) =>
      (await received(await openStream(query, options), count)).map((each) => each?.article);
    expect(await since({ headers: { 'last-event-id': seen[0] ?? '' } }, 4)).toEqual(articles().slice(1));
    expect(await since({ variables: { after: seen[1] } }, 3)).toEqual(articles().slice(2));
    // A reconnecting client also repeats its first cursor.
    expect(
      await since({ variables: { after: seen[0] }, headers: { 'last-event-id': seen[2] ?? '' } }, 2),
    ).toEqual(articles().slice(3));
    const live = await openStream(query, { variables: { after: seen[2] } });
    ids.push(await publish('6'));
    expect((await received(live, 3)).map((each) => each?.article)).toEqual(articles().slice(3));
  });

  test('shows a stranger that an article is gone, and nothing about drafts', async ({
    ada,
    change,
    graphql,
    openStream,
    publishing: { publish },
  }) => {
    const id = await publish('Seen');
    // Without after, a client gets the events this process reads from now on, which may be older.
    const { cursor } = (await graphql<{ cursor: string }>('{ cursor }')).data;
    const query = `subscription { articleChanged(id: ${id}, after: "${cursor}") { type article { title } } }`;
    const [stranger, owner] = [await openStream(query), await openStream(query, { token: ada.token })];
    await change(`unpublishPost(id: ${id}) { id }`);
    await change(`updatePost(id: ${id}, changes: { title: "Hidden" }) { id }`);
    await change(`deletePost(id: ${id})`);
    expect((await received(owner, 3)).map((each) => each?.type)).toEqual([
      'article.unpublished',
      'article.edited',
      'article.deleted',
    ]);
    await publish('Marker');
    const after = await openStream('subscription { articlePublished { type } }', {
      headers: { 'last-event-id': stranger.lastEventId() },
    });
    await received(after, 1);
    expect(await received(stranger, 1)).toEqual([{ type: 'article.unpublished', article: null }]);
  });
});

describe('the right to subscribe', () => {
  test('is checked before the stream starts, with an HTTP status', async ({ openStream, people }) => {
    const statusOf = async (query: string, token?: string) =>
      (await openStream(`subscription ${query}`, { token })).status;
    const everything = '{ changes { type } }';
    expect(await statusOf(everything)).toBe(401);
    const service = await people.registerService('author');
    const narrow = await people.tokenOf(service, ['read:articles']);
    expect(await statusOf(everything, narrow.token)).toBe(403);
    // Public data needs no scope.
    expect(await statusOf('{ userChanged(id: 1) { type } }', narrow.token)).toBe(200);
    expect(await statusOf('{ articlePublished { type } }', 'no-token')).toBe(401);
    expect(await statusOf('{ articlePublished { type } }', narrow.token)).toBe(200);
  });

  test('is checked again during the stream: a revoked token ends it with the reason', async ({
    installation,
    openStream,
    people,
  }) => {
    const service = await people.registerService('author');
    const { token } = await people.tokenOf(service);
    const stream = await openStream('subscription { changes { type } }', { token });
    const revoked = await installation.fetch(`${installation.url}/revoke`, {
      method: 'POST',
      headers: basic(service),
      body: new URLSearchParams({ token }),
    });
    expect(revoked.status).toBe(200);
    await stream.over();
    const [last] = (await stream.results(1)).slice(-1);
    expect(last?.errors?.[0]?.extensions.code).toBe('invalid_token');
    expect(stream.isComplete()).toBe(true);
  });
});
