import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GraphqlClient, graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { type GraphqlStream, streamOf } from '../../testing/graphql/graphql-stream.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';

let installation: Installation;
let people: People;
let ada: Person;
let ask: GraphqlClient;
beforeAll(async () => {
  installation = await startInstallation();
  people = await openPeople(installation);
  ada = await people.signUp('Ada');
  ask = graphqlClientOf(installation);
});
afterAll(() => installation?.[Symbol.asyncDispose]());

const open: GraphqlStream[] = [];
const subscribe = async (
  query: string,
  options: Parameters<typeof streamOf>[2] = {},
): Promise<GraphqlStream> => {
  const stream = await streamOf(installation, `subscription ${query}`, options);
  open.push(stream);
  return stream;
};
afterAll(() => Promise.all(open.map((stream) => stream.close())));

const change = async (mutation: string, by: Pick<Person, 'token'> = ada): Promise<string> => {
  const { data, errors } = await ask<Record<string, { id: string } | string>>(`mutation { ${mutation} }`, {
    token: by.token,
  });
  expect(errors).toBeUndefined();
  const [changed] = Object.values(data);
  return typeof changed === 'object' ? changed.id : String(changed);
};
const publish = (title: string): Promise<string> =>
  change(`createPost(input: { title: "${title}", body: "", publish: true }) { id }`);

/** A cursor after a draft: another replica may answer than the one that wrote it. */
const reaching = async (id: string): Promise<{ cursor: string }> => {
  const { data } = await until(
    () => ask<{ post: unknown; cursor: string }>(`{ post(id: ${id}) { id } cursor }`, { token: ada.token }),
    ({ data: { post } }) => post !== null,
  );
  return data;
};

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
  test.each<[string, (id: string, after: string) => string, readonly object[]]>([
    [
      'articlePublished',
      () => 'articlePublished { cursor type at subjectId article { title status author { name } } }',
      [
        {
          type: 'article.published',
          article: { title: 'Told', status: 'published', author: { name: 'Ada' } },
        },
      ],
    ],
    [
      'articleChanged',
      (id) => `articleChanged(id: ${id}) { cursor type at subjectId article { title } }`,
      [
        { type: 'article.edited', article: { title: 'Told' } },
        { type: 'article.published', article: { title: 'Told' } },
      ],
    ],
    [
      'commentAdded',
      (id) =>
        `commentAdded(articleId: ${id}) { cursor type at comment { text author { name } post { title } } }`,
      [
        {
          type: 'comment.added',
          comment: { text: 'Indeed', author: { name: 'Ada' }, post: { title: 'Told' } },
        },
      ],
    ],
    [
      'changes',
      // It is not limited to one article, and others have just changed.
      (_id, after) =>
        `changes(types: ["article.edited", "comment.edited"], after: "${after}") { cursor type article { title } comment { text } user { id } }`,
      [
        { type: 'article.edited', article: { title: 'Told' }, comment: null, user: null },
        { type: 'comment.edited', article: null, comment: { text: 'Indeed.' }, user: null },
      ],
    ],
  ])('%s delivers its own events only', async (_field, query, expected) => {
    const id = await change('createPost(input: { title: "Draft", body: "" }) { id }');
    const { cursor } = await reaching(id);
    const stream = await subscribe(`{ ${query(id, cursor)} }`, { token: ada.token });
    await change(`updatePost(id: ${id}, changes: { title: "Told" }) { id }`);
    await change(`publishPost(id: ${id}) { id }`);
    const comment = await change(`addComment(postId: ${id}, input: { text: "Indeed" }) { id }`);
    await change(`updateComment(id: ${comment}, text: "Indeed.") { id }`);
    const seen = await received(stream, expected.length);
    expect(seen).toMatchObject(expected);
    // Its cursor is the one to resume with.
    expect(stream.messages.map(({ id }) => id)).toEqual(seen.map((each) => each?.cursor));
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  });

  test('userChanged shows private changes to the user, and only the name to others', async () => {
    const query = `{ userChanged(id: ${ada.userId}) { type subjectId user { name email } } }`;
    const [own, other] = [await subscribe(query, { token: ada.token }), await subscribe(query)];
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

  test('resumes by Last-Event-ID or after, without gaps or repetition', async () => {
    const query = '($after: Cursor) { articlePublished(after: $after) { cursor article { id } } }';
    const first = await subscribe(query);
    const ids = [await publish('1'), await publish('2'), await publish('3')];
    const seen = (await received(first, 3)).map((each) => each?.cursor ?? '');
    await first.close();
    ids.push(await publish('4'), await publish('5'));
    const articles = () => ids.map((id) => ({ id }));
    const since = async (options: Parameters<typeof streamOf>[2], count: number) =>
      (await received(await subscribe(query, options), count)).map((each) => each?.article);
    expect(await since({ headers: { 'last-event-id': seen[0] ?? '' } }, 4)).toEqual(articles().slice(1));
    expect(await since({ variables: { after: seen[1] } }, 3)).toEqual(articles().slice(2));
    // A reconnecting client also repeats its first cursor.
    expect(
      await since({ variables: { after: seen[0] }, headers: { 'last-event-id': seen[2] ?? '' } }, 2),
    ).toEqual(articles().slice(3));
    const live = await subscribe(query, { variables: { after: seen[2] } });
    ids.push(await publish('6'));
    expect((await received(live, 3)).map((each) => each?.article)).toEqual(articles().slice(3));
  });

  test('shows a stranger that an article is gone, and nothing about drafts', async () => {
    const id = await publish('Seen');
    // Without after, a client gets the events this process reads from now on, which may be older.
    const { cursor } = (await ask<{ cursor: string }>('{ cursor }')).data;
    const query = `{ articleChanged(id: ${id}, after: "${cursor}") { type article { title } } }`;
    const [stranger, owner] = [await subscribe(query), await subscribe(query, { token: ada.token })];
    await change(`unpublishPost(id: ${id}) { id }`);
    await change(`updatePost(id: ${id}, changes: { title: "Hidden" }) { id }`);
    await change(`deletePost(id: ${id})`);
    expect((await received(owner, 3)).map((each) => each?.type)).toEqual([
      'article.unpublished',
      'article.edited',
      'article.deleted',
    ]);
    const marker = await publish('Marker');
    const after = await subscribe('{ articlePublished { type } }', {
      headers: { 'last-event-id': stranger.lastEventId() },
    });
    expect(marker).not.toBe('');
    await received(after, 1);
    expect(await received(stranger, 1)).toEqual([{ type: 'article.unpublished', article: null }]);
  });
});

describe('the right to subscribe', () => {
  test('is checked before the stream starts, with an HTTP status', async () => {
    const everything = '{ changes { type } }';
    expect((await subscribe(everything)).status).toBe(401);
    const service = await people.registerService('author');
    const narrow = await people.tokenOf(service, ['read:articles']);
    expect((await subscribe(everything, { token: narrow.token })).status).toBe(403);
    // Public data needs no scope.
    expect((await subscribe('{ userChanged(id: 1) { type } }', { token: narrow.token })).status).toBe(200);
    expect((await subscribe('{ articlePublished { type } }', { token: 'no-token' })).status).toBe(401);
    expect((await subscribe('{ articlePublished { type } }', { token: narrow.token })).status).toBe(200);
  });

  test('is checked again during the stream: a revoked token ends it with the reason', async () => {
    const service = await people.registerService('author');
    const { token } = await people.tokenOf(service);
    const stream = await subscribe('{ changes { type } }', { token });
    const authorization = `Basic ${Buffer.from(`${service.clientId}:${encodeURIComponent(service.secret)}`).toString('base64')}`;
    const revoked = await installation.fetch(`${installation.url}/revoke`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token }).toString(),
    });
    expect(revoked.status).toBe(200);
    await stream.over();
    const [last] = (await stream.results(1)).slice(-1);
    expect(last?.errors?.[0]?.extensions.code).toBe('invalid_token');
    expect(stream.isComplete()).toBe(true);
  });
});
