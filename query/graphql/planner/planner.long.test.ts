// Takes minutes, so it starts first.
import * as fc from 'fast-check';
import { validate } from 'graphql';
import { expect } from 'vitest';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import { test as base, operationOf } from '../../../test/graphql/planned.ts';
import { randomCaller, randomRows } from '../../../test/graphql/random-rows.ts';
import { type ReadModelRows, writeRows } from '../../../test/graphql/read-model-rows.ts';
import { executeReference } from '../../../test/graphql/reference.ts';
import { comparable } from '../../../test/graphql/resolved.ts';
import { GROUPS, type Known, randomQuery } from '../../../testing/graphql/random-query.ts';
import { randomOf } from '../../../testing/random.ts';
import { SEED } from '../../../testing/seed.ts';
import { readerOf, refusalOf, rightsOf } from '../rules/rights.ts';
import { cursorOf } from './cursors.ts';

const SEARCHES = ['engines', '"of Ada"', 'engines -ada', "it's \\ 'quoted' :*"];
const RUNS = Number(process.env.PLANNER_RUNS ?? 100);
const QUERIES_PER_ROWS = 4;

const findAll = async (pool: Pool): Promise<Map<string, Set<number>>> => {
  const finds = SEARCHES.map(async (search) => {
    const text = `select id from read_model.articles where search @@ websearch_to_tsquery('simple', $1)`;
    return [
      search,
      new Set((await pool.query<{ id: number }>(text, [search])).rows.map(({ id }) => id)),
    ] as const;
  });
  return new Map(await Promise.all(finds));
};

const knownOf = ({ users, articles, comments }: ReadModelRows): Known => {
  const cursors = (
    type: string,
    column: 'created_at' | 'published_at',
    rows: readonly { id: number; at: Date | null }[],
  ) =>
    [
      `${type} ${column}`,
      rows.flatMap(({ id, at }) => (at ? [cursorOf(type, { column }, { atMs: at.getTime(), id })] : [])),
    ] as const;
  const byCreation = (rows: readonly { id: number; created_at: Date }[]) =>
    rows.map(({ id, created_at }) => ({ id, at: created_at }));
  const all = new Map([
    cursors('User', 'created_at', byCreation(users)),
    cursors('Post', 'created_at', byCreation(articles)),
    cursors('Comment', 'created_at', byCreation(comments)),
    cursors(
      'Post',
      'published_at',
      articles.map(({ id, published_at }) => ({ id, at: published_at })),
    ),
  ]);
  const ids = [...users, ...articles, ...comments].map(({ id }) => id);
  // graphql-js accepts small integers for an ID too.
  return {
    ids: ids.flatMap((id) => (id < 2 ** 31 ? [String(id), id] : [String(id)])),
    cursors: all,
    searches: SEARCHES,
    omitted: GROUPS,
  };
};

const it = base.extend('connectionsMax', { scope: 'file' }, 2);

it(`answers random queries as graphql-js does over the same rows, and so do the resolvers (TEST_SEED=${SEED})`, async ({
  planner,
  pool,
  resolve,
}) => {
  let answered = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (start) => {
      const random = randomOf(start);
      const rows = randomRows(random);
      await writeRows(pool, rows);
      const known = knownOf(rows);
      const searches = await findAll(pool);
      for (let count = 0; count < QUERIES_PER_ROWS; count += 1) {
        const asker: Caller = randomCaller(random, rows);
        const { text, variables, isOdd } = randomQuery(random, schema, known);
        const { document, operation } = operationOf(text);
        const rights = rightsOf({ domain: POLICY.domain, schema }, document, operation);
        if (validate(schema, document).length > 0 || refusalOf(asker, rights, operation.operation)) continue;
        const caller = readerOf(asker, rights);
        const expected = await executeReference({ schema, rows, caller, found: searches }, text, variables);
        const actual = await planner.plan({ document, operation, variables, caller });
        const context = () =>
          `${text}\n${JSON.stringify(variables)}\n${JSON.stringify({ ...caller, scopes: undefined })}\n${expected.errors ?? ''}`;
        // For odd arguments the planner defers to the resolvers, even if these never reach them.
        if (!(isOdd && actual === undefined))
          expect(actual, context()).toBe(expected.errors ? undefined : JSON.stringify(expected.data));
        const resolved = await resolve({ document, operation, variables, caller });
        expect(comparable(resolved), context()).toEqual(comparable(expected));
        if (actual === undefined) refused += 1;
        else answered += 1;
      }
    }),
    // No shrinking: a smaller seed does not make a simpler case.
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  console.log(`${answered} answered, ${refused} left to the resolvers`);
  expect(answered).toBeGreaterThan(RUNS);
});
