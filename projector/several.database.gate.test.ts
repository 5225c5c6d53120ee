import { expect } from 'vitest';
import type { Command } from '#kernel/decide/decide.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { by, type CommandSide, registerUser, system } from '../test/engines/command-side.ts';
import { test as processes } from '../test/engines/processes.ts';
import { startProjecting, untilProjected } from '../test/engines/projection.ts';
import { bank } from '../test/toy/bank.ts';

const test = processes.extend('sideOptions', { scope: 'file' }, { domain: bank });

const TRANSFERS = 300;
const HELD = 500;

const give = async (side: CommandSide, command: Command): Promise<number> =>
  (await side.send(command as never, by(system))).id;

/** Until the projector has caught up: the sums of all purses that a reader sees meanwhile. */
const sumsWhile = async (side: CommandSide, projected: Promise<unknown>): Promise<ReadonlySet<number>> => {
  const sums = new Set<number>();
  let isOver = false;
  const over = projected.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const { rows } = await side.pool.query<{ sum: number; purses: number }>(
      `select coalesce(sum(balance), 0)::integer as sum, count(*)::integer as purses from ${LIVE_SCHEMA}.purses`,
    );
    if (rows[0]?.purses === 2) sums.add(rows[0].sum);
  }
  await over;
  return sums;
};

test('a reader sees both sides of a transfer or neither, while the projector catches up and after', async ({
  side,
}) => {
  const holderId = await registerUser(side, { role: 'member' as never });
  const [fromId, toId] = [
    await give(side, { type: 'OpenPurse', holderId, balance: HELD }),
    await give(side, { type: 'OpenPurse', holderId, balance: 0 }),
  ];
  const move = (index: number, amount: number) =>
    give(side, {
      type: 'PlanTransfer',
      ...(index % 2 === 0 ? { fromId, toId } : { fromId: toId, toId: fromId }),
      amount,
      execute: true,
    });
  // More events than a page of the log has, so that pages end somewhere among the transfers.
  for (let index = 0; index < TRANSFERS; index += 1) await move(index, 7);
  await using _projecting = await startProjecting(side);
  const before = await sumsWhile(side, untilProjected(side));
  const live = async () => {
    for (let index = 0; index < 50; index += 1) await move(index, 3);
    await untilProjected(side);
  };
  const after = await sumsWhile(side, live());
  expect([...before, ...after].filter((sum) => sum !== HELD)).toEqual([]);
  expect(after.size).toBe(1);
});
