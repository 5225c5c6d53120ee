import { expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { callAt } from '../test/engines/call-line.ts';
import { addComment, draftArticle } from '../test/engines/command-side.ts';
import { test as base } from '../test/engines/processes.ts';
import { untilProjected } from '../test/engines/projection.ts';

const test = base.extend('call', { scope: 'file' }, ({ database }) => async (...args: readonly string[]) => {
  const { exit, output, complaint } = await callAt({ environment: database.settings }, ['replay', ...args]);
  return { exit, output: [output, complaint].filter(Boolean).join('\n') };
});

let middle: { readonly position: number; readonly time: Date };
test.beforeAll(async ({ author, projector: _started, side }) => {
  const article = await draftArticle(side, author);
  middle = { position: await side.eventLog.head(), time: new Date() };
  // The clock of the next event must be later than this one.
  while (Date.now() <= middle.time.getTime()) await new Promise(setImmediate);
  await addComment(side, author, article);
  await untilProjected(side);
});

test('a replay says where it is and how to drop it, and that drops it', async ({ call, side }) => {
  const { exit, output } = await call();
  expect({ exit, output }).toMatchObject({
    exit: 0,
    output: expect.stringContaining('1 users, 1 articles, 1 comments'),
  });
  const [, drop = ''] = /npm run annals -- replay (--drop .*)/.exec(output) ?? [];
  const [, select = ''] = /(select .*);/.exec(output) ?? [];
  expect((await side.pool.query(select)).rows).toMatchObject([{ title: 'On engines', status: 'published' }]);
  expect((await call('--list')).output).toMatch(/^replay_\d+ {2}at position \d+, built .*MB$/);
  expect(await call()).toMatchObject({ exit: 1, output: expect.stringContaining('already exists') });
  expect(await call(...drop.split(' '))).toMatchObject({
    exit: 0,
    output: expect.stringContaining('is gone'),
  });
  expect(await call('--list')).toEqual({ exit: 0, output: 'There are no replays.' });
});

test('a replay that a server crash has emptied is not mistaken for an empty log', async ({ call, side }) => {
  await call('--schema', 'replay_crashed');
  await side.pool.query('truncate replay_crashed.users');
  expect((await call('--list')).output).toContain('emptied by a crash');
  expect(await call('--drop', '--schema', 'replay_crashed')).toMatchObject({ exit: 0 });
});

test('up to a position, a time and a cursor', async ({ call, side }) => {
  const cursor = formatCursor(side.eventLog.identity, middle.position as never);
  const places = { position: String(middle.position), time: middle.time.toISOString(), cursor };
  for (const [name, at] of Object.entries(places)) {
    expect(await call('--at', at, '--schema', `replay_by_${name}`), at).toMatchObject({ exit: 0 });
    expect((await side.pool.query(`select from replay_by_${name}.comments`)).rowCount, at).toBe(0);
  }
});

test.for([
  [['--at', '999999'], 1, 'lies beyond the end of the event log'],
  [['--at', 'yesterday'], 1, '--at must be a position of this log, a time such as'],
  [['--at', '00000000-1'], 1, 'belongs to another log'],
  [['--schema', 'read_model'], 1, '--schema must be replay_ followed by'],
  [['--drop', '--schema', 'read_model'], 1, 'no replay read_model that could be dropped'],
  [['--drop'], 64, '--drop needs --schema'],
  [['--list', '--at', '1'], 64, '--list takes no other option'],
] as const)('%j is refused', async ([args, exit, words], { call }) => {
  expect(await call(...args)).toMatchObject({ exit, output: expect.stringContaining(words) });
});

test('the next replay drops the tables of a killed one', async ({ call, side }) => {
  const mark = {
    use: 'replay',
    log: side.eventLog.identity,
    position: 1,
    madeAt: new Date().toISOString(),
    isWhole: false,
  };
  await side.pool.query(
    `create schema replay_left; comment on schema replay_left is 'annals scratch ${JSON.stringify(mark)}'`,
  );
  expect((await call('--list')).output).toContain('unfinished');
  expect(await call('--schema', 'replay_next')).toMatchObject({ exit: 0 });
  expect((await call('--list')).output).not.toContain('replay_left');
});
