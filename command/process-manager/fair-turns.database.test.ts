import { expect } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { by, registerUser, system } from '../../test/engines/command-side.ts';
import { test } from '../../test/engines/processes.ts';
import { budgets } from '../../test/toy/budgets.ts';
import { until } from '../../testing/until.ts';

const MANY = 600;

test('a single reaction does not wait for the many of another event', async ({ database }) => {
  await using side = await database.open({ domain: budgets });
  const employeeId: UserId = await registerUser(side, { role: 'employee' as never });
  const give = async (command: Command): Promise<number> =>
    (await side.send(command as never, by(system))).id;
  const found = () => give({ type: 'FoundTeam', name: 'Engines' });
  const make = (teamId: number) =>
    give({ type: 'MakeClaim', teamId, employeeId, amount: 7, purpose: 'Coal' });
  const [crowded, lonely] = [await found(), await found()];
  for (let made = 0; made < MANY; made += 100)
    await Promise.all(Array.from({ length: 100 }, () => make(crowded)));
  // The last one in any order.
  const claimId = await make(lonely);
  await give({ type: 'CloseTeam', teamId: crowded });
  await give({ type: 'CloseTeam', teamId: lonely });
  await until(
    async () => (await Array.fromAsync(side.eventLog.read(`claim-${claimId}` as StreamName))).flat().length,
    (events) => events === 2,
  );
  const { rows } = await side.pool.query<{ left: number }>(
    'select count(*) as left from process_manager.task where skipped_at is null',
  );
  expect(rows[0]?.left).toBeGreaterThan(MANY / 4);
});
