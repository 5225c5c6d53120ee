import { expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Command } from '#shared/commands/command.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { by, createCommandDatabase, registerUser, system } from '../../test/engines/command-side.ts';
import { startProjecting, untilProjected } from '../../test/engines/projection.ts';
import { spendingDomain } from '../../test/toy/spending.ts';
import { rebuild } from './rebuild.ts';

const [spending, asking] = spendingDomain.views;

test('a rebuild creates the views that the domain has now: renamed, removed, and as before again', async () => {
  await using database = await createCommandDatabase();
  await using side = await database.open({ domain: spendingDomain });
  await using _projector = await startProjecting(side);
  const approverId = await registerUser(side, { role: 'approver' as never });
  await side.send(
    { type: 'OpenTeam', name: 'One', approverId: approverId as UserId, budget: 7 } as unknown as Command,
    by(system),
  );
  await untilProjected(side);
  const rebuilt = async (domain: Domain) => {
    await rebuild({
      ...side,
      tables: tablesOf(domain),
      signal: new AbortController().signal,
      onProgress() {},
    });
    const { rows } = await side.pool.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'read_model' and tablename ~ '^(spending|costs|asking|view_)' order by 1`,
    );
    return rows.map(({ name }) => name);
  };
  const costs = {
    ...spending,
    name: 'costs',
    table: 'costs',
    shares: spending?.shares.map((share) => ({ ...share, table: share.table.replace('spending', 'costs') })),
  };
  const beside = ['view_readers', 'view_removed', 'view_stream'];
  expect(await rebuilt({ ...spendingDomain, views: [costs as never] })).toEqual([
    'costs',
    'costs_of_request',
    'costs_of_team',
    ...beside,
  ]);
  expect((await side.pool.query('select budget::int from read_model.costs')).rows).toEqual([{ budget: 7 }]);
  expect(await rebuilt({ ...spendingDomain, views: [] })).toEqual([]);
  expect(await rebuilt({ ...spendingDomain, views: [asking as never] })).toEqual([
    'asking',
    'asking_of_request',
    ...beside,
  ]);
});
