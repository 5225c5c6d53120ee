import fc from 'fast-check';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Caller } from '#shared/policy.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/read-model-fixture.ts';
import { type Asked, readKindList } from '../kinds/list.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';

const as = (userId: number, role: string) => callerIn(POLICY, { userId, role });
const CALLERS: readonly Caller[] = [{ kind: 'anonymous', policy: POLICY }, as(1, 'author'), as(3, 'admin')];

type Row = {
  readonly id: number;
  readonly atMs: number;
  readonly author: number;
  readonly published: boolean;
};

/** Few times, so that many rows share one and only the id orders them. */
const row: fc.Arbitrary<Row> = fc.record({
  id: fc.integer({ min: 1, max: 60 }),
  atMs: fc.integer({ min: 0, max: 4 }).map((n) => 1_700_000_000_000 + n),
  author: fc.integer({ min: 1, max: 2 }),
  published: fc.boolean(),
});
/** A concurrent change between two pages. */
const change = fc.oneof(
  row.map((inserted) => ({ inserted })),
  fc.integer({ min: 1, max: 60 }).map((deleted) => ({ deleted })),
);
const scenario = fc.record({
  rows: fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 40 }),
  changes: fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 20 }),
  limit: fc.integer({ min: 1, max: 7 }),
  caller: fc.constantFrom(...CALLERS),
  sort: fc.constantFrom('-createdAt', 'createdAt', '-publishedAt', 'publishedAt'),
  status: fc.constantFrom(undefined, 'draft', 'published'),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

const ROWS = `
  insert into read_model.users (id, name, role, version, created_at, updated_at)
    select id, 'User ' || id, 'author', 1, now(), now() from generate_series(1, 2) id`;
const test = base
  .extend('rows', { scope: 'file' }, ROWS)
  .extend('insert', { scope: 'file' }, ({ pool }) => ({ id, atMs, author, published }: Row) => {
    return pool.query(
      `insert into read_model.articles (id, author_id, title, body, tags, status, version, created_at, updated_at, published_at)
     values ($1, $2, 'Title', '', '{}', $3, 1, $4, $4, $5) on conflict do nothing`,
      [id, author, published ? 'published' : 'draft', new Date(atMs), published ? new Date(atMs) : null],
    );
  })
  .extend(
    'read',
    { scope: 'file' },
    ({ pool }) =>
      async (
        { caller, limit, sort, status }: Scenario,
        place: Record<string, string> = {},
      ): Promise<Page> => {
        const asked = { limit, sort, status, ...place } as Asked;
        const from = { domain: publishing, pool, source: ARTICLES };
        return (await readKindList(from, caller, { path: '/articles', asked })) as unknown as Page;
      },
  )
  /** Reads all pages from one on, in one direction, while the list changes. */
  .extend(
    'walk',
    { scope: 'file' },
    ({ read }) =>
      async (asked: Scenario, direction: 'next' | 'prev', start: Page, between: () => Promise<void>) => {
        const pages = [start];
        for (let link = start.links[direction]; link !== undefined; link = pages.at(-1)?.links[direction]) {
          await between();
          pages.push(await read(asked, placeIn(link, direction === 'next' ? 'after' : 'before')));
          expect(pages.length).toBeLessThan(300);
        }
        return pages;
      },
  );

const ARTICLES = demandSource(sourcesOf(publishing), 'article');

type Seen = { readonly id: number; readonly createdAt: string };
type Page = {
  readonly items: readonly Seen[];
  readonly links: { readonly prev?: string; readonly next?: string };
};

const placeIn = (link: string, name: 'after' | 'before') => ({
  [name]: new URL(link, 'http://x').searchParams.get(name) ?? '',
});

const inOrder = (sort: string, items: readonly Seen[]): readonly number[] => {
  const sign = sort.startsWith('-') ? -1 : 1;
  return items
    .toSorted(
      (one, other) =>
        sign *
        (one.createdAt < other.createdAt ? -1 : one.createdAt > other.createdAt ? 1 : one.id - other.id),
    )
    .map(({ id }) => id);
};

test('a walk to the end and back meets every row that stays exactly once each way, in order, while rows come and go', async ({
  insert,
  pool,
  read,
  walk,
}) => {
  await fc.assert(
    fc.asyncProperty(scenario, async (asked) => {
      await pool.query('delete from read_model.articles');
      for (const each of asked.rows) await insert(each);
      const whole = async () =>
        (
          await walk({ ...asked, limit: 100 }, 'next', await read({ ...asked, limit: 100 }), async () => {})
        ).flatMap(({ items }) => items);
      const deleted = new Set<number>();
      const changes = asked.changes.values();
      const between = async () => {
        for (const each of changes.next().value ?? []) {
          if ('inserted' in each) await insert(each.inserted);
          else {
            deleted.add(each.deleted);
            await pool.query('delete from read_model.articles where id = $1', [each.deleted]);
          }
        }
      };
      const before = await whole();
      const there = await walk(asked, 'next', await read(asked), between);
      const back = await walk(asked, 'prev', there.at(-1) as Page, between);
      const seen = {
        there: there.flatMap(({ items }) => items),
        back: back.toReversed().flatMap(({ items }) => items),
      };
      const stayed = before.filter(({ id }) => !deleted.has(id)).map(({ id }) => id);
      for (const items of [seen.there, seen.back]) {
        const ids = items.map(({ id }) => id);
        // A row that was deleted and inserted again may have another position.
        const once = items.filter(({ id }) => !deleted.has(id));
        expect(new Set(once.map(({ id }) => id)).size).toBe(once.length);
        expect(inOrder(asked.sort, once)).toEqual(once.map(({ id }) => id));
        expect(ids).toEqual(expect.arrayContaining(stayed));
      }
      for (const { items } of [...there, ...back]) expect(items.length).toBeLessThanOrEqual(asked.limit);
    }),
    { numRuns: Number(process.env.WALKS ?? 60) },
  );
});

test('adjacent pages leave no gap, also on the way back from an empty one', async ({
  insert,
  pool,
  read,
}) => {
  await pool.query('delete from read_model.articles');
  for (const id of [1, 2, 3]) await insert({ id, atMs: 1_700_000_000_000, author: 1, published: true });
  const asked: Scenario = {
    rows: [],
    changes: [],
    limit: 2,
    caller: { kind: 'anonymous', policy: POLICY },
    sort: 'createdAt',
    status: undefined,
  };
  const first = await read(asked);
  expect(first.links).toMatchObject({ next: expect.any(String) });
  expect(first.links).not.toHaveProperty('prev');
  await pool.query('delete from read_model.articles where id = 3');
  const empty = await read(asked, placeIn(first.links.next ?? '', 'after'));
  expect(empty).toMatchObject({
    items: [],
    links: { prev: expect.any(String), first: '/articles?limit=2&sort=createdAt' },
  });
  expect(empty.links).not.toHaveProperty('next');
  const back = await read(asked, placeIn(empty.links.prev ?? '', 'before'));
  expect(back.items.map(({ id }) => id)).toEqual([1, 2]);
});
