import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import { holdLeases } from '#shared/database/lease/lease.ts';
import { by, type CommandSide, registerUser, system } from '../../test/engines/command-side.ts';
import { test as base } from '../../test/engines/processes.ts';
import { boards } from '../../test/toy/boards.ts';
import { until } from '../../testing/until.ts';
import { LEASE } from './fence.ts';

/** A child ends with the parent that it has, whenever the process manager learns of a move. */
const test = base
  .extend('side', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const side = await database.open({ domain: boards });
    onCleanup(() => side[Symbol.asyncDispose]());
    return side;
  })
  .extend(
    'give',
    { scope: 'file' },
    ({ side }) =>
      async (command: object): Promise<number> =>
        (await side.send(command as never, by(system))).id,
  )
  .extend('author', { scope: 'file' }, ({ side }) => registerUser(side, { role: 'member' as never }))
  .extend(
    'open',
    ({ give, author }) =>
      () =>
        give({ type: 'OpenBoard', title: 'Repairs', keeperId: author }),
  )
  .extend(
    'add',
    ({ give, author }) =>
      (boardId: number) =>
        give({ type: 'AddCard', boardId, authorId: author, title: 'The door sticks', urgent: false }),
  );

const typesOf = async ({ eventLog }: CommandSide, stream: string): Promise<readonly string[]> =>
  (await Array.fromAsync(eventLog.read(stream as StreamName))).flat().map(({ type }) => type);
const untilEnded = (side: CommandSide, card: number) =>
  until(
    () => typesOf(side, `card-${card}`),
    (types) => types.includes('card.removed'),
  );
const countTasks = async ({ pool }: CommandSide) =>
  (await pool.query<{ tasks: number }>('select count(*) as tasks from process_manager.task')).rows[0]?.tasks;

test('a child that moves away between the end of its parent and its own stays', async ({
  side,
  give,
  open,
  add,
}) => {
  const [former, next] = [await open(), await open()];
  const [moved, stays] = [await add(former), await add(former)];
  {
    await using _waiting = await holdLeases(side.pool, [LEASE]);
    await give({ type: 'RemoveBoard', boardId: former });
    await until(
      () => countTasks(side),
      (tasks) => tasks === 2,
    );
    await give({ type: 'MoveCard', cardId: moved, boardId: next });
  }
  await untilEnded(side, stays);
  expect(await typesOf(side, `card-${moved}`)).toEqual(['card.written', 'card.moved']);
  await give({ type: 'RemoveBoard', boardId: next });
  await untilEnded(side, moved);
});

test('a child that moves below a parent that ends at the same time ends with it', async ({
  side,
  give,
  open,
  add,
}) => {
  const [former, next] = [await open(), await open()];
  const card = await add(former);
  await give({ type: 'RemoveBoard', boardId: next });
  // As if the target had ended after the command read it.
  const data = { cardId: card, boardId: next, formerBoardId: former, authorId: 1 };
  await side.eventLog.append(`card-${card}` as StreamName, 1 as Version, [event('card.moved', data)]);
  await untilEnded(side, card);
});

test('the imported end of a parent ends its children', async ({ side, open, add, author }) => {
  const board = await open();
  const card = await add(board);
  const data = { boardId: board, keeperId: author };
  await side.eventLog.append(`board-${board}` as StreamName, 1 as Version, [
    event('board.removed', data, { importedAt: '2026-05-01T10:00:00.000Z' }),
  ]);
  await untilEnded(side, card);
});

const event = (type: string, data: Readonly<Record<string, number>>, more: object = {}) => ({
  id: randomUUID() as EventId,
  type,
  data,
  metadata: {
    version: 1,
    at: '2026-01-02T03:04:05.678Z',
    actor: 'system:test',
    client: null,
    request: 'r',
    $correlationId: 'r',
    $causationId: null,
    ...more,
  },
});
