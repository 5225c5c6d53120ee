import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Stretch } from '#shared/webhooks/deliveries.ts';
import { formatKey, parseKey, readKeyedList } from './pages.ts';

/** Reads as the statements of the ledger do. */
const readFrom =
  (keys: readonly number[]) =>
  async ({ after, before, isBackward, rowsMax }: Stretch<number>): Promise<readonly number[]> =>
    keys
      .filter((key) => (after === undefined || key < after) && (before === undefined || key > before))
      .toSorted((one, other) => (isBackward ? one - other : other - one))
      .slice(0, rowsMax);

const pageOf = (
  keys: readonly number[],
  asked: { limit?: number; after?: string; before?: string; type?: string },
) =>
  readKeyedList<number, number>({
    path: '/list',
    asked,
    kindOfKey: 'number',
    read: readFrom(keys),
    keyOf: (key) => key,
    represent: (key) => ({ key }),
  });

const keysIn = (items: readonly object[]) => items.map((item) => (item as { key: number }).key);
const askedBy = (href: string) => {
  const { limit, ...place } = Object.fromEntries(new URL(href, 'http://x').searchParams);
  return { ...place, limit: Number(limit) };
};

test('a walk to the end and back yields everything once each way, the latest first', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(50)), fc.integer({ min: 1, max: 7 }), async (keys, limit) => {
      const latestFirst = keys.toSorted((one, other) => other - one);
      const walk = async (rel: 'next' | 'prev', asked: Parameters<typeof pageOf>[1]) => {
        const pages = [await pageOf(keys, asked)];
        for (let href = pages[0]?.links[rel]; href !== undefined; href = pages.at(-1)?.links[rel])
          pages.push(await pageOf(keys, askedBy(href)));
        return pages;
      };
      const there = await walk('next', { limit });
      expect(there.flatMap(({ items }) => keysIn(items))).toEqual(latestFirst);
      const back = await walk('prev', askedBy(there.at(-1)?.links.self ?? ''));
      expect(back.toReversed().flatMap(({ items }) => keysIn(items))).toEqual(latestFirst);
    }),
  );
});

test('links keep the parameters of the request, and all other pages link to the first', async () => {
  const { links } = await pageOf([3, 2, 1], { limit: 1, type: 'article.published' });
  expect(links).toEqual({
    self: '/list?type=article.published&limit=1',
    next: expect.stringMatching(/^\/list\?type=article.published&limit=1&after=\S+$/),
  });
  const { after = '' } = askedBy(links.next ?? '') as { after?: string };
  expect((await pageOf([3, 2, 1], { after })).links).toMatchObject({
    first: '/list',
    prev: expect.stringContaining('before='),
  });
});

test('an empty page has no links to others, because a cursor excludes its own row', async () => {
  const { links } = await pageOf([3, 2, 1], { limit: 1 });
  const { after } = askedBy(links.next ?? '') as { after?: string };
  expect(Object.keys((await pageOf([3], { ...(after && { after }) })).links)).toEqual(['self', 'first']);
});

test.each(['', 'x', 'W10', Buffer.from('["other",1]').toString('base64url')])(
  'the cursor %j is none of this list',
  async (after) => {
    await expect(pageOf([1], { after })).rejects.toMatchObject({ code: 'unknown_cursor' });
  },
);

test('a key of the longest names survives its cursor', () => {
  const [stream, reaction] = [
    `${'a'.repeat(40)}-${Number.MAX_SAFE_INTEGER}`,
    ['b', 'c', 'd'].map((name) => name.repeat(40)).join(' '),
  ];
  const key = `20260102030405678901 react ${stream} ${reaction} ${crypto.randomUUID()}`;
  expect(parseKey('/list', 'string', formatKey('/list', key))).toBe(key);
});
