import { describe, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/read-model-fixture.ts';
import { stretchOfPage } from '../lists/walk.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { type Asked, readKindList, sortOf } from './list.ts';
import { listRows } from './list-rows.ts';
import { selectionOfList } from './selection.ts';

/** The number of rows; a higher one shows that the reads stay the same. */
const ARTICLES = Number(process.env.PLAN_ARTICLES ?? 20_000);
const USERS = 200;
const LIMIT = 20;
/** A page of each of two parts, with the one row more that tells whether there are others. */
const ROWS_MAX = 2 * (LIMIT + 1);

const AT = `timestamptz '2026-01-01' + g * interval '1 second'`;
/** The newest half are drafts, which a list of published articles must skip without reading them. */
const ROWS = `
  insert into read_model.users (id, name, role, version, created_at, updated_at)
    select g, 'User ' || g, 'author', 1, ${AT}, ${AT} from generate_series(1, ${USERS * 10}) g;
  insert into read_model.articles (id, author_id, title, body, tags, status, version, created_at, updated_at, published_at)
    select g, 1 + g % ${USERS}, 'Title ' || g, 'common' || case when g % 1000 = 7 then ' rare' else '' end,
      case when g % 1000 = 7 then array['frequent', 'rare'] else array['frequent'] end, status, 1, ${AT}, ${AT},
      case when status = 'published' then ${AT} end
    from generate_series(1, ${ARTICLES}) g, lateral (select case when g > ${ARTICLES / 2} then 'draft' else 'published' end) s (status);
  insert into read_model.comments (id, article_id, author_id, text, version, created_at, updated_at)
    select g, 1 + g % 10, 1 + g % ${USERS}, 'text', 1, ${AT}, ${AT} from generate_series(1, ${ARTICLES}) g;
  analyze;`;

type Plan = { readonly [key: string]: unknown; readonly Plans?: readonly Plan[] };

const test = base
  .extend('rows', { scope: 'file' }, ROWS)
  /** A pool that uses generic plans, as after many runs, and counts the rows read of the listed table. */
  .extend('counting', { scope: 'file' }, ({ pool }) => (table: string) => {
    const counted = { rows: 0, plan: '' };
    const query = async ({
      name,
      text,
      values,
    }: {
      name?: string;
      text: string;
      values: readonly unknown[];
    }) => {
      const mode = name === undefined ? 'force_custom_plan' : 'force_generic_plan';
      await pool.query(`set plan_cache_mode = ${mode}`);
      await pool.query(`prepare listed as ${text}`);
      const literals = values
        .map((value) => (typeof value === 'number' ? String(value) : `'${String(value)}'`))
        .join(', ');
      const { rows } = await pool.query(
        `explain (analyze, format json) execute listed${literals === '' ? '' : `(${literals})`}`,
      );
      const plan = rows[0]['QUERY PLAN'][0].Plan as Plan;
      counted.rows += rowsRead(plan, table);
      counted.plan = JSON.stringify(plan, null, 1);
      const answer = await pool.query(`execute listed${literals === '' ? '' : `(${literals})`}`);
      await pool.query('deallocate listed');
      return answer;
    };
    return { pool: { query } as unknown as Pool, counted };
  })
  /** Goes to the second page, and from there back to the first. */
  .extend(
    'thereAndBack',
    { scope: 'file' },
    ({ counting }) =>
      async (caller: Caller, asked: Asked, authorId?: number) => {
        const { counted: result, pool: counted } = counting('articles');
        const read = (place: Asked) =>
          readKindList({ domain: publishing, pool: counted, source: sourceOf('article') }, caller, {
            path: '/articles',
            asked: { ...asked, ...place, limit: LIMIT, author: authorId },
          });
        const most = { rows: 0, plan: '' };
        const note = () => {
          if (result.rows > most.rows) Object.assign(most, result);
          result.rows = 0;
        };
        const first = await read({});
        note();
        const next = new URLSearchParams(first.links.next?.split('?')[1]).get('after');
        if (next === null) return most;
        const second = await read({ after: next });
        note();
        await read({ before: new URLSearchParams(second.links.prev?.split('?')[1]).get('before') ?? '' });
        note();
        return most;
      },
  );

const rowsRead = (plan: Plan, table: string): number => {
  const loops = Number(plan['Actual Loops']);
  const here =
    plan['Relation Name'] === table
      ? loops *
        (Number(plan['Actual Rows']) +
          Number(plan['Rows Removed by Filter'] ?? 0) +
          Number(plan['Rows Removed by Index Recheck'] ?? 0))
      : 0;
  return (plan.Plans ?? []).reduce((sum, child) => sum + rowsRead(child, table), here);
};

const as = (userId: number, role: string) => callerIn(POLICY, { userId, role });
const CALLERS: readonly (readonly [string, Caller])[] = [
  ['anonymous', { kind: 'anonymous', policy: POLICY }],
  ['a reader', as(1, 'reader')],
  ['an author', as(2, 'author')],
  ['an administrator', as(3, 'admin')],
];
const SORTS = ['-createdAt', 'createdAt', '-publishedAt', 'publishedAt'] as const;
const sourceOf = (kind: string) => demandSource(sourcesOf(publishing), kind);

describe.each(CALLERS)('for %s', (_, caller) => {
  test.for(SORTS)('a list by %s reads about a page, whatever the filter', async (sort, { thereAndBack }) => {
    for (const status of [undefined, 'draft', 'published'] as const) {
      for (const authorId of [undefined, 2, 5]) {
        const { rows, plan } = await thereAndBack(caller, { sort, status }, authorId);
        expect(rows, `${status} ${authorId} ${plan}`).toBeLessThanOrEqual(ROWS_MAX);
      }
    }
  });

  test.for([
    { tag: 'rare' },
    { q: 'rare' },
    { tag: 'frequent' },
    { q: 'common' },
    { q: 'common rare', tag: 'rare' },
    { q: '"common rare"' },
    { q: 'rare -common' },
  ])(
    'a list with %o reads a small part of all rows, whether matches are rare or frequent',
    async (filter, { thereAndBack }) => {
      for (const sort of SORTS) {
        const { rows, plan } = await thereAndBack(caller, { ...filter, sort });
        expect(rows, `${sort} ${plan}`).toBeLessThanOrEqual(ARTICLES / 50);
      }
    },
  );
});

test.for([true, false])(
  'users and comments are read by the page (latest first: %s)',
  async (descending, { counting }) => {
    const gap = { atMs: Date.parse('2026-01-01T00:10:00.000Z'), id: 600, side: 'after' } as const;
    for (const from of [undefined, { gap, direction: 'after' }, { gap, direction: 'before' }] as const) {
      const walk = { order: { column: 'created_at', descending }, limit: LIMIT, from } as const;
      const [users, comments] = [counting('users'), counting('comments')];
      const anonymous: Caller = { kind: 'anonymous', policy: POLICY };
      const list = (kind: string, pool: Pool, under?: { readonly column: string; readonly id: number }) => {
        const source = sourceOf(kind);
        return listRows(
          { pool, source, selection: selectionOfList(source), caller: anonymous },
          { filter: {}, under, sort: sortOf(source, undefined).sort, ...stretchOfPage(walk) },
        );
      };
      await list('user', users.pool);
      await list('comment', comments.pool, { column: 'article_id', id: 3 });
      expect(users.counted.rows, users.counted.plan).toBeLessThanOrEqual(LIMIT + 1);
      expect(comments.counted.rows, comments.counted.plan).toBeLessThanOrEqual(LIMIT + 1);
    }
  },
);
