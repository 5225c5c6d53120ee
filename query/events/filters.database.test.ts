import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { context } from '../../test/codec-fixture.ts';
import { type Asker, type Backend, test as base } from '../../test/engines/backend.ts';
import { follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';

type Event = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly at: string;
  readonly cursor: string;
};

const test = base
  .extend('history', { scope: 'file' }, async ({ admin, author, backend, reader, write }) => {
    const published = { title: 'Published', body: '', tags: [], publish: true };
    const article = await write(author, 'POST', '/articles', published);
    /** A time after the article and before the comment. */
    const between = await aMomentLater();
    await fill(backend.side, author, 1_200);
    const comment = await write(reader, 'POST', `/articles/${article}/comments`, { text: 'Well said.' });
    await write(admin, 'PATCH', `/articles/${article}`, { title: 'Corrected' });
    await write(author, 'DELETE', `/comments/${comment}`);
    return { article, between, comment };
  })
  .extend('feed', { scope: 'file' }, ({ backend, history: _written }) => {
    const page = async (by: Asker, query: Readonly<Record<string, string>>) => {
      const path = `/events?${new URLSearchParams({ limit: '100', ...query })}`;
      const { status, headers, body } = await backend.ask(path, { by });
      expect(status, JSON.stringify(body)).toBe(200);
      return { events: body as readonly Event[], links: headers.get('link') ?? '' };
    };
    const typesFor = async (by: Asker, query: Readonly<Record<string, string>>) =>
      (await page(by, query)).events.map(({ type }) => type);
    const streamOf = async (by: Asker, query: Readonly<Record<string, string>>) =>
      follow(`${backend.url}/events?${new URLSearchParams(query)}`, {
        headers: await backend.authorization(by),
      });
    return { page, streamOf, typesFor };
  });

/** A time at which nothing happens: later than all so far, earlier than all that follows. */
const aMomentLater = async (): Promise<string> => {
  const end = Date.now() + 2;
  await until(
    () => Date.now(),
    (now) => now > end,
  );
  return new Date(end).toISOString();
};

/** Writes events that no caller may see. */
const fill = async ({ eventLog, codec }: Backend['side'], author: Asker, count: number) => {
  for (let left = count; left > 0; left -= 400) {
    const events = Array.from({ length: 400 }, () => ({
      id: randomUUID() as EventId,
      event: { type: 'email.released' as const, data: { userId: author.id } },
    }));
    const made = { ...context, at: new Date().toISOString() };
    await eventLog.append(
      'email-filler' as StreamName,
      'any',
      await codec.encodeAll('email-filler' as StreamName, made, events),
    );
  }
};

test('reading the stream of a subject returns the same events as reading the whole log', async ({
  admin,
  author,
  feed: { page },
  history: { article, comment },
  reader,
}) => {
  const all = (await page(admin, {})).events;
  for (const subject of [`article-${article}`, `comment-${comment}`, `user-${reader.id}`]) {
    for (const by of [admin, author, reader]) {
      const inLog = (await page(by, {})).events.filter((event) => event.subject === subject);
      expect((await page(by, { subject })).events, subject).toEqual(inLog);
    }
    const before = all.findLast((event) => event.subject === subject)?.cursor ?? '';
    expect((await page(admin, { subject, after: before })).events).toEqual([]);
  }
});

test('`since` and `until` bound the events, and the page that reaches a past `until` is the last', async ({
  author,
  feed: { page, typesFor },
  history: { article, between },
}) => {
  expect(await typesFor(author, { article: String(article), since: between })).toEqual([
    'comment.added',
    'article.edited',
    'comment.deleted',
  ]);
  const before = await page(author, { article: String(article), until: between });
  expect(before.events.map(({ type }) => type)).toEqual(['article.drafted', 'article.published']);
  expect(before.links).not.toMatch(/rel="(?:next|poll)"/);
  const [edited] = (await page(author, { types: 'article.edited' })).events;
  const at = edited?.at ?? '';
  expect(
    await typesFor(author, { article: String(article), since: at, until: at, types: 'article.edited' }),
  ).toEqual(['article.edited']);
  const open = await page(author, { since: between, until: new Date(Date.now() + 3_600_000).toISOString() });
  expect(open.links).toContain('rel="poll"');
  expect(
    await typesFor(author, { since: between.replace('Z', '+00:00'), subject: `article-${article}` }),
  ).toEqual(['article.edited']);
});

test('all readers see the actor; the client and the correlation only the actor and administrators', async ({
  admin,
  author,
  feed: { page },
  reader,
}) => {
  const edited = async (by: Asker) => (await page(by, { types: 'article.edited' })).events[0];
  const traced = {
    actor: `user:${admin.id}`,
    request: expect.any(String),
    correlation: expect.any(String),
    causation: null,
  };
  expect(await edited(admin)).toMatchObject(traced);
  for (const by of [author, reader]) {
    expect(await edited(by)).toMatchObject({ actor: `user:${admin.id}` });
    expect(Object.keys((await edited(by)) ?? {})).not.toEqual(expect.arrayContaining(['request']));
  }
  const [added] = (await page(reader, { types: 'comment.added' })).events;
  expect(added).toMatchObject({ actor: `user:${reader.id}`, request: expect.any(String) });
});

test('a stream has the same filters, may start at a time, and has no end', async ({
  admin,
  author,
  feed: { streamOf },
  history: { article, between },
  reader,
}) => {
  const bySubject = await streamOf(author, { subject: `article-${article}`, since: between });
  const byActor = await streamOf(admin, { actor: `user:${reader.id}`, since: '2026-01-01T00:00:00Z' });
  expect(await bySubject.data<Event>(1)).toMatchObject([{ type: 'article.edited' }]);
  expect(await byActor.data<Event>(1)).toMatchObject([
    { type: 'comment.added', request: expect.any(String) },
  ]);
  const unbounded = await streamOf(admin, { until: between });
  expect(unbounded.status).toBe(400);
  for (const { close } of [bySubject, byActor]) await close();
});

test('readers of one role who follow a client or correlation each get only their own events', async ({
  author,
  backend,
  feed: { page, streamOf },
  history: { article },
  write,
}) => {
  const other = await backend.person('author');
  const [own] = (await page(author, { subject: `article-${article}` })).events;
  const since = own?.at ?? '';
  const both = { client: 'web', since };
  const [others, mine] = [await streamOf(other, both), await streamOf(author, both)];
  const correlated = { correlation: String(own?.correlation), since };
  const [othersNone, mineCorrelated] = [
    await streamOf(other, correlated),
    await streamOf(author, correlated),
  ];
  await mine.data<Event>(1);
  // First while catching up, then live.
  for (const by of [author, other])
    await write(by, 'POST', '/articles', { title: `By ${by.id}`, body: '', tags: [], publish: true });
  const demandReceived = async (stream: typeof mine, by: Asker) => {
    const expected = (await page(by, both)).events;
    const events = await stream.data<Event>(expected.length);
    expect(events).toEqual(expected);
    expect(new Set(events.map(({ actor }) => actor))).toEqual(new Set([`user:${by.id}`]));
  };
  await demandReceived(mine, author);
  await demandReceived(others, other);
  expect((await mineCorrelated.data<Event>(2)).map(({ type }) => type)).toEqual([
    'article.drafted',
    'article.published',
  ]);
  expect(othersNone.messages).toEqual([]);
  for (const { close } of [others, mine, othersNone, mineCorrelated]) await close();
});

test.for<[parameter: string, value: string]>([
  ['actor', 'user:x'],
  ['actor', 'Ada'],
  ['subject', 'article'],
  ['subject', 'email-x'],
  ['since', 'yesterday'],
  ['until', '2026-13-01T00:00:00Z'],
])('%s=%s is refused with a precise detail', async ([parameter, value], { admin, backend }) => {
  const reply = await backend.ask(`/events?${new URLSearchParams({ [parameter]: value })}`, { by: admin });
  expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_parameter', errors: [{ parameter }] } });
});
