import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { eventTraceFor, recordedEventFor } from '#shared/rest/recorded-event.ts';
import { readChainEnd } from '../../proof/stored/blocks.ts';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { fillLedger } from '../../test/engines/filled-ledger.ts';
import { until } from '../../testing/until.ts';

type Shown = {
  readonly id: string;
  readonly type: string;
  readonly causation?: string | null;
  readonly deliveries?: readonly object[];
};

const test = base
  .extend('articles', { scope: 'file' }, async ({ admin: _earlier, author, write }) => {
    const published = { title: 'On engines', body: 'Text', tags: [], publish: true };
    const article = await write(author, 'POST', '/articles', published);
    const draft = await write(author, 'POST', '/articles', { title: 'A draft', body: '', tags: [] });
    return { article, draft };
  })
  .extend('feed', { scope: 'file' }, ({ admin, backend }) => {
    const get = async <Body>(by: Asker, path: string): Promise<Body> => {
      const { status, body } = await backend.ask(path, { by });
      expect(status, JSON.stringify(body)).toBe(200);
      return body as Body;
    };
    const eventsOf = (query: string) => get<readonly [Shown, ...Shown[]]>(admin, `/events?${query}`);
    return { eventsOf, get };
  });

test('an event is shown with its links, its schema, and its block in the chain', async ({
  admin,
  articles: { article },
  backend,
  feed: { eventsOf, get },
}) => {
  const [drafted, published] = await eventsOf(`subject=article-${article}`);
  const before = await get<object>(admin, `/events/${drafted.id}`);
  expect(recordedEventFor(publishing).parse(before)).toEqual(before);
  expect(before).toMatchObject({
    ...drafted,
    streamVersion: 1,
    chain: { count: null, head: null, signed: null },
  });
  await using _index = await backend.startIndex();
  await using _chain = await backend.startChain();
  const head = await backend.side.eventLog.head();
  const { count } = await until(
    () => readChainEnd(backend.side.pool),
    ({ position }) => position >= head,
  );
  const after = await get<{ chain: { count: number } }>(admin, `/events/${published?.id}`);
  expect(after).toMatchObject({
    streamVersion: 2,
    chain: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), signed: null },
  });
  // The draft of the other article is the last event.
  expect(after.chain.count).toBe(count - 1);
  expect(after).toMatchObject({
    _links: {
      item: { href: `/articles/${article}` },
      history: { href: `/articles/${article}/history` },
      schema: { href: '/event-types?type=article.published' },
      trace: { href: `/events/${published?.id}/trace` },
    },
  });
  expect(await get<object[]>(admin, '/event-types?type=article.published')).toMatchObject([
    { type: 'article.published', schema: {} },
  ]);
});

test('the chain is for administrators, and an event for everyone who may see it', async ({
  admin,
  articles: { draft },
  author,
  backend,
  feed: { eventsOf, get },
  reader,
}) => {
  const [drafted] = await eventsOf(`subject=article-${draft}`);
  expect(await get(author, `/events/${drafted.id}`)).not.toHaveProperty('chain');
  for (const by of [reader, { ...admin, scopes: ['read:events'] }])
    for (const path of [`/events/${drafted.id}`, `/events/${drafted.id}/trace`])
      expect(await backend.ask(path, { by })).toMatchObject({
        status: 404,
        body: { code: 'event_not_found' },
      });
  for (const id of ['7f000000-0000-4000-8000-000000000000', 'x'])
    expect((await backend.ask(`/events/${id}`, { by: admin })).status).toBe(404);
});

test('the origin of an event is shown to its actor and to administrators', async ({
  admin,
  articles: { article },
  author,
  feed: { eventsOf, get },
  reader,
}) => {
  const [drafted, published] = await eventsOf(`subject=article-${article}`);
  for (const by of [admin, author]) {
    const trace = await get<{ events: Shown[] }>(by, `/events/${published?.id}/trace`);
    expect(eventTraceFor(publishing).parse(trace)).toEqual(trace);
    expect(trace).toMatchObject({ correlation: expect.any(String), truncated: false });
    expect(trace.events.map(({ id }) => id)).toEqual([drafted.id, published?.id]);
  }
  const theirs = await get<{ events: Shown[] }>(reader, `/events/${published?.id}/trace`);
  expect(theirs).not.toHaveProperty('correlation');
  expect(theirs.events.map(({ id }) => id)).toEqual([published?.id]);
});

test('deliveries are for those who may manage the webhook', async ({
  admin,
  articles: { article },
  author,
  backend,
  feed: { eventsOf, get },
  reader,
  write,
}) => {
  const [{ id }] = await eventsOf(`subject=article-${article}&types=article.published`);
  expect(await get(author, `/events/${id}`)).toMatchObject({ deliveries: [] });
  const form = { url: 'https://shop.example/hooks', eventTypes: ['*'] };
  const webhook = await write(author, 'POST', '/webhooks', form);
  await fillLedger(backend.side.pool, String(webhook));
  await backend.side.pool.query(
    `update webhook_ledger.delivery set event_id = $1
     where event_id = (select event_id from webhook_ledger.delivery where state = 'dead')`,
    [id],
  );
  for (const by of [author, admin])
    for (const path of [`/events/${id}`, `/events/${id}/trace`])
      expect(await get(by, path)).toMatchObject({
        deliveries: [{ webhookId: webhook, eventId: id, state: 'dead' }],
      });
  expect(await get(reader, `/events/${id}`)).toMatchObject({ deliveries: [] });
  expect(
    await get({ ...author, scopes: ['read:events', 'read:articles'] }, `/events/${id}`),
  ).not.toHaveProperty('deliveries');
});
