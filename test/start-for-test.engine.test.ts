import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { rolesOf } from '#kernel/registry/roles.ts';
import { publishing } from '../domain/publishing.ts';
import { expenses } from '../examples/expenses/domain/domain.ts';
import { startForTest } from '../package/testing/for-test.ts';
import { createTestDatabase } from '../package/testing/test-database.ts';
import { inDatabase } from '../testing/database/search-everywhere.ts';
import { until } from '../testing/until.ts';
import { departments } from './toy/departments.ts';
import { helpdesk } from './toy/helpdesk.ts';
import { lending } from './toy/lending.ts';

test('starts a whole system, with clients by role, whose timers fire when the clock is moved', async () => {
  await using annals = await startForTest(expenses);
  const [admin, approver, employee] = await Promise.all([
    annals.as('admin'),
    annals.as('approver'),
    annals.as('employee'),
  ]);
  const { id: approverId } = await approver.me();
  const { id: teamId } = await admin.teams.create({ name: 'Field work', approverId, budget: 500_000 });
  const { id } = await employee.claims.create({ teamId, purpose: 'Strasbourg' });
  await employee.claims.of(id).items.add({ spentOn: '2026-11-20', category: 'travel', amount: 42_000 });
  await employee.claims.submit(id);
  const last = async () => (await employee.claims.history(id).take(1))[0]?.type;
  await annals.advance('2 days');
  expect(await last()).toBe('claim.submitted');
  await annals.advance('25 hours');
  expect(await last()).toBe('claim.reminded');
  await annals.advance('4 days');
  expect(await last()).toBe('claim.escalated');
  // The date of every role: this is that of the query role.
  const { at } = (await (await admin.request('GET', '/operations')).json()) as { at: string };
  expect(Date.parse(at) - Date.now()).toBeGreaterThan(6 * 86_400_000);
  await expect(annals.client.claims.get(id)).rejects.toMatchObject({ status: 401 });
  await expect(annals.as('emperor')).rejects.toThrow('expenses has no role emperor: it has ');
  await expect(annals.advance('-1 days')).rejects.toThrow(
    'advance waits for “-1 days”: use a number of seconds',
  );
  // A second disposal does nothing.
  await annals[Symbol.asyncDispose]();
});

/** With a timer, with reactions alone, with neither, and with nothing but ends of what belongs to a user. */
test.for([expenses, departments, lending, publishing, helpdesk])(
  'is settled after a write in any domain: $name',
  async (domain) => {
    await using annals = await startForTest(domain);
    for (const role of rolesOf(domain)) await annals.as(role);
    await annals.settled();
  },
);

test('refuses settings that it chooses itself', async () => {
  await expect(startForTest(expenses, { settings: { PORT: '4000' } })).rejects.toThrow(
    'startForTest chooses PORT by itself: remove it from the settings.',
  );
});

test('the next test drops the database of a killed one, but not that of a running one', async () => {
  await using running = await createTestDatabase();
  const killed = spawn(process.execPath, ['test/engines/test-database-owner.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(killed.stdout, 'data');
  const name = new URL(String(line).trim()).pathname.slice(1);
  killed.kill('SIGKILL');
  const isThere = (database: string) =>
    inDatabase(
      running.url,
      async (client) =>
        (await client.query('select 1 from pg_database where datname = $1', [database])).rowCount === 1,
    );
  expect(await isThere(name)).toBe(true);
  await until(
    async () => {
      await using _next = await createTestDatabase();
      return isThere(name);
    },
    (found) => !found,
  );
  expect(await isThere(new URL(running.url).pathname.slice(1))).toBe(true);
});
