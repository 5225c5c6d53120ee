import { expect } from 'vitest';
import { policyOf } from '#shared/policy.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/read-model-fixture.ts';
import { support } from '../../test/toy/support.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { sortOf } from './list.ts';
import { listRows } from './list-rows.ts';
import { countRowsOfEach } from './lists-of-each.ts';
import { selectionOfList } from './selection.ts';

const TICKETS = 5_000;
const LIMIT = 20;

/** Only the oldest ticket is solved, so that a part of solved tickets alone never fills a page. */
const ROWS = `
  insert into read_model.users (id, name, role, version, created_at, updated_at)
    values (1, 'User', 'customer', 1, now(), now());
  insert into read_model.tickets
    (id, customer_id, subject, triaged_at, status, version, created_at, updated_at, cost_total)
    select g, 1, 'common', at, case when g = 1 then 'solved' else 'open' end, 1, at, at, 0
    from generate_series(1, ${TICKETS}) g, lateral (select timestamptz '2026-01-01' + g * interval '1 second') a (at);
  analyze;`;

type Plan = { readonly [key: string]: unknown; readonly Plans?: readonly Plan[] };

const test = base
  .extend('domain', { scope: 'file' }, support)
  .extend('rows', { scope: 'file' }, ROWS)
  /** A pool that notes the plan of each statement. */
  .extend('planning', { scope: 'file' }, ({ pool }) => () => {
    const plans: Plan[] = [];
    const query = async ({ text, values }: { text: string; values: readonly unknown[] }) => {
      const { rows } = await pool.query({
        text: `explain (analyze, format json) ${text}`,
        values: [...values],
      });
      plans.push(rows[0]['QUERY PLAN'][0].Plan);
      return pool.query({ text, values: [...values] });
    };
    const source = demandSource(sourcesOf(support), 'ticket');
    const caller = callerIn(policyOf(support), { userId: 1, role: 'lead' });
    return {
      plans,
      listing: { pool: { query } as never, source, selection: selectionOfList(source), caller },
    };
  });

/** Includes rows that a filter removed. */
const rowsRead = (plan: Plan): number => {
  const own =
    plan['Relation Name'] === 'tickets'
      ? (Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0)) *
        Number(plan['Actual Loops'])
      : 0;
  return (plan.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), own);
};

test('a page by a time that rows of any state may have reads no more rows than it has', async ({
  planning,
}) => {
  const { plans, listing } = planning();
  const { sort } = sortOf(listing.source, '-triagedAt');
  const stretch = { isDownward: true, beyond: undefined };
  const rows = await listRows(listing, { filter: {}, sort, stretch, rowsMax: LIMIT + 1 });
  expect(rows).toHaveLength(LIMIT + 1);
  expect(plans.map(rowsRead), JSON.stringify(plans)).toEqual([LIMIT + 1]);
});

test('a count by words looks them up once', async ({ planning }) => {
  const { plans, listing } = planning();
  const asked = { filter: { search: 'common' }, sort: sortOf(listing.source, undefined).sort };
  const counts = await countRowsOfEach(listing, asked, { column: undefined, ids: [0] });
  expect(counts.get(0)).toBe(TICKETS);
  expect(plans.map(rowsRead), JSON.stringify(plans)).toEqual([TICKETS]);
});
