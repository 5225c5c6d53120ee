import { expect } from 'vitest';
import { policyOf } from '#shared/policy.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/read-model-fixture.ts';
import { teams } from '../../test/toy/teams.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { sortOf } from './list.ts';
import { listRows } from './list-rows.ts';
import { selectionOfList } from './selection.ts';

const TEAMS = 500;
const CLAIMS = 20_000;
const MEMBERS = 8;
const LIMIT = 20;
const OF_TEAM = CLAIMS / TEAMS;

const AT = `1, timestamptz '2026-01-01' + g * interval '1 second', timestamptz '2026-01-01'`;
const ROWS = `
  insert into read_model.companies (id, name, version, created_at, updated_at) select g, 'C', ${AT} from generate_series(1, 50) g;
  insert into read_model.teams (id, company_id, name, version, created_at, updated_at)
    select g, 1 + g % 50, 'T', ${AT} from generate_series(1, ${TEAMS}) g;
  insert into read_model.team_members (team_id, id, person_id, part, version, created_at, updated_at)
    select 1 + g / ${MEMBERS}, 1 + g % ${MEMBERS}, 50000 + g, 'guest', ${AT} from generate_series(0, ${TEAMS * MEMBERS - 1}) g;
  insert into read_model.company_directors (company_id, person_id, version, created_at, updated_at)
    select g, 100000 + g, ${AT} from generate_series(1, 50) g;
  insert into read_model.users (id, name, role, version, created_at, updated_at)
    select g, 'User ' || g, 'member', ${AT} from generate_series(1, ${TEAMS}) g;
  insert into read_model.claims (id, employee_id, team_id, purpose, status, version, created_at, updated_at)
    select g, 1 + g % ${TEAMS}, 1 + g % ${TEAMS}, 'P', 'submitted', ${AT} from generate_series(1, ${CLAIMS}) g;
  analyze;`;

type Plan = { readonly [key: string]: unknown; readonly Plans?: readonly Plan[] };

const test = base
  .extend('domain', { scope: 'file' }, teams)
  .extend('rows', { scope: 'file' }, ROWS)
  /** Counts the rows of claims that a list reads with a generic plan. */
  .extend(
    'readBy',
    { scope: 'file' },
    ({ pool }) =>
      async (
        role: string,
        userId: number,
      ): Promise<{ readonly found: number; readonly read: number; readonly plan: string }> => {
        const policy = policyOf(teams);
        const caller = callerIn(policy, { userId, role });
        let seen = { found: 0, read: 0, plan: '' };
        const query = async ({ text, values }: { text: string; values: readonly unknown[] }) => {
          await pool.query('set plan_cache_mode = force_generic_plan');
          await pool.query(`prepare listed as ${text}`);
          const literals = values.map(String).join(', ');
          const { rows } = await pool.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
            `explain (analyze, format json) execute listed(${literals})`,
          );
          const answer = await pool.query(`execute listed(${literals})`);
          await pool.query('deallocate listed');
          const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
          seen = {
            found: answer.rows.length,
            read: plan === undefined ? 0 : rowsRead(plan),
            plan: JSON.stringify(plan, undefined, 1),
          };
          return answer;
        };
        const source = demandSource(sourcesOf(teams), 'claim');
        await listRows(
          { pool: { query } as never, source, selection: selectionOfList(source), caller },
          {
            filter: {},
            sort: sortOf(source, undefined).sort,
            stretch: { isDownward: true, beyond: undefined },
            rowsMax: LIMIT + 1,
          },
        );
        return seen;
      },
  );

/** Includes rows that a filter removed. */
const rowsRead = (plan: Plan): number => {
  const own =
    plan['Relation Name'] === 'claims'
      ? (Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0)) *
        Number(plan['Actual Loops'])
      : 0;
  return (plan.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), own);
};

test.for<[string, string, number, number]>([
  ['a member of one team', 'member', 50_017, OF_TEAM],
  ['a director, over two references,', 'director', 100_007, (TEAMS / 50) * OF_TEAM],
  ['somebody who is neither', 'member', 99_999, 0],
])(
  '%s reads the claims that they may read, by indexes, and few others',
  async ([, role, userId, readable], { readBy }) => {
    const { found, read, plan } = await readBy(role, userId);
    expect(found).toBe(Math.min(readable, LIMIT + 1));
    expect(read, plan).toBeLessThanOrEqual(2 * readable);
  },
);
