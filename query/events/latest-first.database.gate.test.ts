import { expect } from 'vitest';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { EVENT_OPERATIONS } from '#shared/rest/event-operations.ts';
import type { Event } from '#shared/rest/events.ts';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { linkIn } from '../../test/links.ts';
import { until } from '../../testing/until.ts';

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);

/** Results must be the same with a complete index, a lagging one, or none. */
const STANDINGS = ['before there is an index', 'with an index', 'behind the index'] as const;

const fromShop = (by: Asker): Asker => ({ ...by, client: 'shop' });
const test = base
  .extend('articles', { scope: 'file' }, async ({ admin, author, reader, write }) => {
    const published = { title: 'On engines', body: 'Text', tags: [], publish: true };
    const first = await write(author, 'POST', '/articles', published);
    await write(reader, 'POST', `/articles/${first}/comments`, { text: 'Well said of Engines.' });
    const second = await write(author, 'POST', '/articles', { title: 'A draft', body: '', tags: [] });
    await write(admin, 'PATCH', `/users/${reader.id}`, { email: 'rita@example.com' });
    const retitle = (by: Asker, title: string) => write(by, 'PATCH', `/articles/${first}`, { title });
    await retitle(fromShop(author), 'On engines, from the shop');
    for (let edit = 0; edit < 4; edit += 1) await retitle(author, `On engines, again ${edit}`);
    return { first, second };
  })
  .extend('feed', { scope: 'file' }, ({ articles: _written, backend }) => {
    const page = (by: Asker, path: string) => backend.ask(path, { by });
    const eventsOf = async (by: Asker, query: string) => {
      const { status, body } = await page(by, `/events?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return body as readonly Event[];
    };
    const walked = async (by: Asker, path: string, rel: string): Promise<readonly Event[]> => {
      const events: Event[] = [];
      for (let next: string | undefined = path; next !== undefined; ) {
        const { body, headers } = await page(by, next);
        events.push(...(rel === 'prev' ? (body as Event[]).toReversed() : (body as Event[])));
        next = linkIn(headers, rel);
      }
      return events;
    };
    return { eventsOf, page, walked };
  })
  .extend('bringTo', { scope: 'file' }, ({ admin, articles: { first, second }, author, backend, write }) => {
    const index = async () => {
      await using _index = await backend.startIndex();
      const head = await backend.side.eventLog.head();
      await until(
        () => readCheckpoint(backend.side.pool, EVENT_INDEX),
        (checkpoint) => (checkpoint?.position ?? 0) >= head,
      );
    };
    const edit = async () => {
      await write(author, 'PATCH', `/articles/${second}`, { title: 'Another draft' });
      await write(fromShop(author), 'PATCH', `/articles/${first}`, { title: 'From the shop' });
      await write(admin, 'PATCH', `/articles/${first}`, { title: 'From the desk' });
    };
    return async (standing: (typeof STANDINGS)[number]): Promise<void> => {
      if (standing === 'with an index') await index();
      if (standing === 'behind the index') await edit();
    };
  });

for (const standing of STANDINGS) {
  test(`the latest first are the oldest first reversed, in one page and in several: ${standing}`, async ({
    admin,
    articles: { first },
    author,
    bringTo,
    feed: { eventsOf, walked },
    reader,
  }) => {
    await bringTo(standing);
    for (const by of [admin, reader])
      for (const filter of [
        '',
        '&types=article.*',
        `&actor=user:${author.id}`,
        `&article=${first}`,
        `&subject=article-${first}`,
        '&text=engines',
      ]) {
        const oldest = idsOf(await eventsOf(by, `limit=100${filter}`));
        expect(oldest.length).toBeGreaterThan(0);
        expect(idsOf(await eventsOf(by, `sort=-cursor&limit=100${filter}`)), filter).toEqual(
          oldest.toReversed(),
        );
        const path = `/events?sort=-cursor&limit=4${filter}`;
        expect(idsOf(await walked(by, path, 'next')), path).toEqual(oldest.toReversed());
      }
  });

  test(`actor, client and correlation find the same as a scan of the log, in both orders: ${standing}`, async ({
    admin,
    author,
    bringTo,
    feed: { eventsOf, walked },
  }) => {
    await bringTo(standing);
    for (const by of [admin, author]) {
      const all = await eventsOf(by, 'limit=100');
      for (const name of ['actor', 'client', 'correlation'] as const) {
        const values = new Set(all.flatMap((event) => event[name] ?? []));
        expect(values.size, name).toBeGreaterThan(0);
        for (const value of values) {
          const expected = idsOf(all.filter((event) => event[name] === value));
          const filter = `${name}=${encodeURIComponent(value)}`;
          expect(idsOf(await walked(by, `/events?limit=4&${filter}`, 'next')), filter).toEqual(expected);
          expect(idsOf(await walked(by, `/events?sort=-cursor&limit=4&${filter}`, 'next')), filter).toEqual(
            expected.toReversed(),
          );
        }
      }
    }
  });
}

test('from the middle, pages link to older and newer events, and the newest page links to a poll', async ({
  admin,
  articles: { first },
  author,
  feed: { eventsOf, page, walked },
  write,
}) => {
  const all = await eventsOf(admin, 'sort=-cursor&limit=100');
  const middle = all[4] as Event;
  const older = await page(admin, `/events?sort=-cursor&limit=2&before=${middle.cursor}`);
  expect(idsOf(older.body as Event[])).toEqual(idsOf(all.slice(5, 7)));
  const newer = linkIn(older.headers, 'prev') ?? '';
  expect(idsOf(await walked(admin, newer, 'prev'))).toEqual(idsOf(all.slice(0, 5).toReversed()));
  const newest = await page(admin, `/events?sort=-cursor&limit=100&after=${middle.cursor}`);
  expect(idsOf(newest.body as Event[])).toEqual(idsOf(all.slice(0, 4)));
  expect(linkIn(newest.headers, 'prev')).toBeUndefined();
  const poll = linkIn(newest.headers, 'poll') ?? '';
  const empty = await page(admin, poll);
  expect(empty.body).toEqual([]);
  expect(idsOf((await page(admin, linkIn(empty.headers) ?? '')).body as Event[])[0]).toBe(all[0]?.id);
  expect(idsOf((await page(admin, linkIn(newest.headers) ?? '')).body as Event[])[0]).toBe(middle.id);
  await write(author, 'PATCH', `/articles/${first}`, { title: 'Newer still' });
  expect((await page(admin, poll)).body).toMatchObject([
    { type: 'article.edited', data: { title: 'Newer still' } },
  ]);
});

test('`correlation` and `client` match only for callers who see them', async ({
  admin,
  articles: { first },
  author,
  feed: { eventsOf },
  reader,
}) => {
  const [, published] = await eventsOf(admin, `subject=article-${first}`);
  const { correlation = '' } = published as Event;
  const found = await eventsOf(admin, `correlation=${correlation}`);
  expect(found.map(({ type }) => type)).toEqual(['article.drafted', 'article.published']);
  expect(await eventsOf(admin, `sort=-cursor&correlation=${correlation}`)).toEqual(found.toReversed());
  expect(await eventsOf(author, `sort=-cursor&correlation=${correlation}`)).toHaveLength(2);
  expect(await eventsOf(reader, `sort=-cursor&correlation=${correlation}`)).toEqual([]);
  expect(await eventsOf(reader, `correlation=${correlation}`)).toEqual([]);
  expect(await eventsOf(admin, 'sort=-cursor&client=nobody')).toEqual([]);
});

test('`text` finds words in the data the caller sees, and nowhere else', async ({
  admin,
  author,
  feed: { eventsOf },
  reader,
}) => {
  expect(await eventsOf(admin, 'sort=-cursor&text=rita@EXAMPLE')).toMatchObject([{ type: 'user.updated' }]);
  expect(await eventsOf(author, 'sort=-cursor&text=rita@example')).toEqual([]);
  expect(await eventsOf(author, 'sort=-cursor&text=a%20draft')).toHaveLength(1);
  expect(await eventsOf(reader, 'sort=-cursor&text=a%20draft')).toEqual([]);
  // The names of fields do not count.
  expect(await eventsOf(admin, 'sort=-cursor&text=authorId')).toEqual([]);
});

test('an invalid filter is refused', async ({ admin, feed: { eventsOf, page } }) => {
  const cursor = (await eventsOf(admin, 'limit=1'))[0]?.cursor;
  for (const query of [
    `before=${cursor}`,
    `sort=-cursor&before=${cursor}&after=${cursor}`,
    'sort=at',
    'text=a',
  ])
    expect(await page(admin, `/events?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter' },
    });
  expect(await page(admin, '/events?sort=-cursor&before=no')).toMatchObject({
    status: 400,
    body: { code: 'unknown_cursor' },
  });
  expect(EVENT_OPERATIONS.listEvents.query.shape).toHaveProperty('text');
});
