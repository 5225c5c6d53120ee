import { expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { follow } from '../../testing/http/event-source.ts';

/** Streams of events whose token is for the lists alone. */
type Event = { readonly type: string; readonly subject: string; readonly data: object };
type Query = Readonly<Record<string, string>>;

const START = { since: '2026-01-01T00:00:00Z' };

const test = base
  .extend('draft', { scope: 'file' }, ({ author, write }) =>
    write(author, 'POST', '/articles', { title: 'Secret', body: 'Hidden' }),
  )
  .extend('published', { scope: 'file' }, ({ author, write }) =>
    write(author, 'POST', '/articles', { title: 'Public', body: 'Shown', publish: true }),
  )
  .extend('followWith', ({ backend, draft: _d, published: _p }, { onCleanup }) => {
    const open = new AsyncDisposableStack();
    onCleanup(() => open.disposeAsync());
    return async (by: Asker | null, scope: string, query: Query = {}, accept = 'text/event-stream') => {
      const stream = await follow(`${backend.url}/events?${new URLSearchParams({ ...START, ...query })}`, {
        headers: { ...(await backend.authorization(by, { scope })), accept },
      });
      open.defer(stream.close);
      return stream;
    };
  });

test('the scope of a list is enough to follow it: what happened, and ids alone', async ({
  author,
  draft,
  followWith,
}) => {
  const stream = await followWith(author, 'read:articles', { types: 'article.*' });
  const events = await stream.data<Event>(3);
  expect(events.map(({ type }) => type)).toEqual(['article.drafted', 'article.drafted', 'article.published']);
  expect(events[0]).toEqual({
    id: expect.any(String),
    type: 'article.drafted',
    version: expect.any(Number),
    at: expect.any(String),
    cursor: expect.any(String),
    subject: `article-${draft}`,
    actor: null,
    data: { articleId: draft, authorId: author.id },
  });
  expect(JSON.stringify(events)).not.toMatch(/Secret|Public|Hidden|Shown|request/);
});

test('it shows no item that the token or its user may not read', async ({
  author,
  followWith,
  published,
  reader,
}) => {
  for (const [by, scope] of [
    [author, 'read:comments'],
    [reader, 'read:articles'],
  ] as const) {
    const stream = await followWith(by, scope, { types: 'article.*' });
    // The events of the draft, and of the article before it was published, would come first.
    expect(await stream.data<Event>(1)).toMatchObject([
      { type: 'article.published', subject: `article-${published}` },
    ]);
  }
});

test('with the scope for events, they have everything, as before', async ({ author, followWith }) => {
  const stream = await followWith(author, 'read:articles read:events', { types: 'article.drafted' });
  expect((await stream.data<Event>(1))[0]).toMatchObject({
    actor: `user:${author.id}`,
    data: { title: 'Secret' },
  });
});

test.for([
  { actor: 'user:1' },
  { text: 'Secret' },
  { client: 'web' },
  { correlation: 'abc' },
  { article: '1' },
])(
  'the filter %j, which would tell what such events do not show, needs the scope for events',
  async (query, { author, followWith }) => {
    const refused = await followWith(author, 'read:articles', query as unknown as Query);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('scope="read:events"'),
    ]);
  },
);

test('a subject is shown, so it may be a filter; CloudEvents have ids alone too', async ({
  author,
  draft,
  followWith,
}) => {
  const stream = await followWith(
    author,
    'read:articles',
    { subject: `article-${draft}` },
    'text/event-stream; format=cloudevents',
  );
  expect(await stream.data<object>(1)).toMatchObject([
    { type: expect.stringContaining('article.drafted'), data: { articleId: draft } },
  ]);
  expect(JSON.stringify(stream.messages)).not.toMatch(/Secret|user:/);
});

test('pages still need the scope for events, and streams a user', async ({ author, backend, followWith }) => {
  const headers = await backend.authorization(author, { scope: 'read:articles' });
  expect((await fetch(`${backend.url}/events`, { headers })).status).toBe(403);
  expect((await followWith(null, '')).status).toBe(401);
});
