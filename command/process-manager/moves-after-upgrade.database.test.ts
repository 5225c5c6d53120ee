import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { by, type CommandSide, registerUser, system } from '../../test/engines/command-side.ts';
import { test } from '../../test/engines/processes.ts';
import { until } from '../../testing/until.ts';

type Release = { readonly moves: boolean; readonly endsWithAuthor: boolean };

/** Labels and cards end with their board; in the next release cards can move. */
const release = ({ moves, endsWithAuthor }: Release) => {
  const base = domain({ name: 'rooms', roles: ['member'] });
  const { aggregate, user } = base;
  const board = aggregate('board', {
    fields: { title: line(60) },
    events: { opened: { creates: ['title'] }, removed: { ends: true } },
    commands: { open: { emits: 'opened' }, remove: { emits: 'removed' } },
    rights: { read: { anyone: true }, write: { member: true } },
  });
  const label = aggregate('label', {
    parent: 'board',
    fields: { board: ref(board), name: line(20) },
    events: { made: { creates: ['name'] }, removed: { ends: true } },
    commands: { make: { emits: 'made' }, remove: { emits: 'removed' } },
    rights: { read: { as: 'board' }, write: { member: true } },
    reactions: { board: { removed: { run: 'remove' } } },
  });
  const declaration: object = {
    parent: 'board',
    owner: 'author',
    fields: { board: ref(board), author: ref(user), title: line(80) },
    events: {
      written: { creates: ['title'] },
      removed: { ends: true },
      ...(moves && { moved: { moves: 'board' } }),
    },
    commands: {
      add: { emits: 'written' },
      remove: { emits: 'removed' },
      ...(moves && { move: { emits: 'moved' } }),
    },
    rights: { read: { as: 'board' }, write: { member: true } },
    reactions: {
      board: { removed: { run: 'remove' } },
      ...(endsWithAuthor && { author: { deleted: { run: 'remove' } } }),
    },
  };
  return assemble(base, [board, label, aggregate('card', declaration as never)]);
};

const eventsOf = async ({ eventLog }: CommandSide, stream: string) =>
  (await Array.fromAsync(eventLog.read(stream as StreamName))).flat();
const giving =
  (side: CommandSide) =>
  async (command: object): Promise<number> =>
    (await side.send(command as never, by(system))).id;
const untilEnded = (side: CommandSide, stream: string) =>
  until(
    () => eventsOf(side, stream),
    (events) => events.at(-1)?.type.endsWith('.removed') === true,
  );
const countIn = async ({ pool }: CommandSide, table: string, where = 'true'): Promise<number | undefined> =>
  (
    await pool.query<{ count: number }>(
      `select count(*)::int as count from process_manager.${table} where ${where}`,
    )
  ).rows[0]?.count;

test('the end of a moved child with its owner names the parent that it has', async ({ database }) => {
  await using side = await database.open({ domain: release({ moves: true, endsWithAuthor: true }) });
  const give = giving(side);
  const author = await registerUser(side, { role: 'member' as never });
  const [one, two] = [
    await give({ type: 'OpenBoard', title: 'One' }),
    await give({ type: 'OpenBoard', title: 'Two' }),
  ];
  const card = await give({ type: 'AddCard', boardId: one, authorId: author, title: 'Door' });
  await give({ type: 'MoveCard', cardId: card, boardId: two });
  await give({ type: 'DeleteUser', userId: author });
  const events = await untilEnded(side, `card-${card}`);
  expect(events.at(-1)?.data).toEqual({ cardId: card, boardId: two, authorId: author });
});

test.for([{ endsWithAuthor: true }, { endsWithAuthor: false }])(
  'a child of the former release that has moved stays when its former parent ends: %o',
  async ({ endsWithAuthor }, { database }) => {
    let [one, two, card, stays, label] = [0, 0, 0, 0, 0];
    {
      await using side = await database.open({ domain: release({ moves: false, endsWithAuthor }) });
      const give = giving(side);
      const author = await registerUser(side, { role: 'member' as never });
      one = await give({ type: 'OpenBoard', title: 'One' });
      two = await give({ type: 'OpenBoard', title: 'Two' });
      card = await give({ type: 'AddCard', boardId: one, authorId: author, title: 'Door' });
      stays = await give({ type: 'AddCard', boardId: one, authorId: author, title: 'Stays' });
      label = await give({ type: 'MakeLabel', boardId: one, name: 'red' });
      await until(
        () => countIn(side, 'member', `parent = 'board-${one}'`),
        (count) => count === 3,
      );
    }
    await using side = await database.open({ domain: release({ moves: true, endsWithAuthor }) });
    const give = giving(side);
    await give({ type: 'MoveCard', cardId: card, boardId: two });
    await give({ type: 'RemoveBoard', boardId: one });
    await untilEnded(side, `label-${label}`);
    await untilEnded(side, `card-${stays}`);
    await until(
      () => countIn(side, 'member', `parent = 'board-${one}'`),
      (count) => count === 0,
    );
    await until(
      () => countIn(side, 'task'),
      (count) => count === 0,
    );
    expect((await eventsOf(side, `card-${card}`)).map(({ type }) => type)).toEqual([
      'card.written',
      'card.moved',
    ]);
    expect(await countIn(side, 'parked')).toBe(0);
    await give({ type: 'RemoveBoard', boardId: two });
    await untilEnded(side, `card-${card}`);
  },
);
