import { describe, expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { createCommandDatabase } from '../../test/engines/command-side.ts';
import { inTheDatabase, LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { createPublishingDatabase } from '../../test/engines/migrated-database.ts';

type Event = {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly cursor: string;
};

const ARTICLES = 7;
const BODY = 'long '.repeat(600);
const LIMIT = 5;

/** Filters, and what they ask for. */
const FILTERS: readonly (readonly [Readonly<Record<string, string>>, (event: Event) => boolean])[] = [
  [{}, () => true],
  [{ types: 'article.drafted' }, ({ type }) => type === 'article.drafted'],
  [{ types: 'comment.added' }, ({ type }) => type === 'comment.added'],
  [{ types: 'article.drafted,comment.added' }, ({ type }) => /drafted|added/.test(type)],
  [{ types: 'user.deleted' }, () => false],
  [{ text: 'long long' }, ({ type }) => type === 'article.drafted'],
  [{ text: 'nowhere' }, () => false],
];

const test = base
  .extend('startLog', { scope: 'file' }, () => inTheDatabase)
  .extend('backendOptions', { scope: 'file' }, async ({ startLog }, { onCleanup }) => {
    const on = await createCommandDatabase({ startLog, createDatabase: createPublishingDatabase });
    onCleanup(() => on[Symbol.asyncDispose]());
    return { on };
  })
  .extend('page', { scope: 'file' }, ({ backend }) => async (by: Asker, query: object) => {
    const { status, body } = await backend.ask(`/events?${new URLSearchParams({ ...query })}`, { by });
    expect(status, JSON.stringify([query, body])).toBe(200);
    return body as readonly Event[];
  })
  .extend('all', { scope: 'file' }, async ({ admin, author, page, reader, write }) => {
    for (let n = 0; n < ARTICLES; n += 1) {
      const content = { title: `${n}`, body: BODY, tags: [], publish: true };
      const article = await write(author, 'POST', '/articles', content);
      if (n % 3 === 0) await write(reader, 'POST', `/articles/${article}/comments`, { text: 'Well said.' });
    }
    return page(admin, { limit: '100' });
  });

const engines = LOG_ENGINES.map(
  ([name, startLog]) => [name, test.extend('startLog', { scope: 'file' }, () => startLog)] as const,
);

// In EventStoreDB a position is one of bytes, so each event is thousands after the one before.
describe.each(engines)('pages of events, on %s', (_name, test) => {
  for (const isIndexed of [false, true])
    test(`begin and end at any event, in both orders, ${isIndexed ? 'with' : 'without'} the index`, async ({
      admin,
      all,
      backend,
      page,
    }) => {
      await using _index = isIndexed ? await backend.startIndex() : undefined;
      expect(all.length).toBeGreaterThan(ARTICLES);
      const idsOf = (events: readonly Event[]) => events.map(({ id }) => id);
      for (const [filter, isWanted] of FILTERS)
        for (const [index, { cursor }] of all.entries()) {
          const asked = { ...filter, limit: `${LIMIT}` };
          const [before, after] = [
            all.slice(0, index).filter(isWanted),
            all.slice(index + 1).filter(isWanted),
          ];
          expect(idsOf(await page(admin, { ...asked, after: cursor }))).toEqual(idsOf(after.slice(0, LIMIT)));
          expect(idsOf(await page(admin, { ...asked, sort: '-cursor', before: cursor }))).toEqual(
            idsOf(before.toReversed().slice(0, LIMIT)),
          );
        }
      for (const [filter, isWanted] of FILTERS)
        expect(idsOf(await page(admin, { ...filter, limit: '100' }))).toEqual(idsOf(all.filter(isWanted)));
    });

  test('lead to their neighbours by their links', async ({ admin, all, backend }) => {
    for (const [index, { cursor }] of all.entries()) {
      const query = new URLSearchParams({ limit: '2', sort: '-cursor', before: cursor });
      const { headers } = await backend.ask(`/events?${query}`, { by: admin });
      const links = (headers.get('link') ?? '').matchAll(/<(?<href>[^>]*)>; *rel="?(?<rel>next|prev)"?/g);
      const neighbours = {
        prev: all.slice(index, index + 2),
        next: all.slice(Math.max(index - 4, 0), Math.max(index - 2, 0)),
      };
      for (const { groups: { href = '', rel } = {} } of links) {
        const { status, body } = await backend.ask(href.slice(href.indexOf('/events')), { by: admin });
        expect(status, href).toBe(200);
        expect(body).toMatchObject(
          neighbours[rel as keyof typeof neighbours].toReversed().map(({ id }) => ({ id })),
        );
      }
    }
  });

  test('of one aggregate are the same', async ({ admin, all, page }) => {
    for (const { subject, cursor } of all) {
      const later = all.slice(all.findIndex((event) => event.cursor === cursor) + 1);
      const own = later.filter((event) => event.subject === subject);
      expect(await page(admin, { subject, after: cursor })).toEqual(own);
    }
  });
});
