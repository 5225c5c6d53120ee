// Over 200 lines, because every copy is made between the cells that are set up here.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { holdFollowers } from '#shared/follower/hold-followers.ts';
import { PROCESS_MANAGER, REACTIONS } from '#shared/process-manager/followers.ts';
import { LOOK_EVERY_MS, untilExecuted } from '../../command/process-manager/executed.ts';
import { LEASE } from '../../command/process-manager/fence.ts';
import { callLine } from '../../test/engines/call-line.ts';
import {
  addComment,
  as,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../../test/engines/command-side.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { test as base } from '../../test/engines/processes.ts';
import { startProjecting, untilProjected } from '../../test/engines/projection.ts';
import { createTestClock, type TestClock } from '../../test/engines/test-clock.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';
import { until } from '../../testing/until.ts';
import { canonicalForm } from '../stored/canonical.ts';

/** The copy waits 30 s for reactions. */
const MOVES_MS = 1_000;

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
/** Two articles with comments, of which one is deleted with its comment. */
const write = async (side: CommandSide, author: UserId): Promise<void> => {
  await addComment(side, author, await draftArticle(side, author));
  const doomed = await draftArticle(side, author);
  await addComment(side, author, doomed);
  await side.send(
    { type: 'DeleteArticle', articleId: doomed } as never,
    by(as(author), { idempotencyKey: `delete-article-${doomed}` }),
  );
};

const register = (side: CommandSide, owner: UserId) =>
  side.send({ type: 'RegisterWebhook', ...WEBHOOK_FORM }, by(as(owner)));

const openCell = async () => {
  const database = await createCommandDatabase({ masterKey: MASTER_KEY });
  const side = await database.open();
  return {
    database,
    side,
    async [Symbol.asyncDispose]() {
      await side[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
};

const copyArgs = ({ settings: { DATABASE_URL: to = '' } }: CommandDatabase, file: string) => [
  ...['log', 'copy', '--to', to, '--streams', file],
];

const test = base
  .extend('databaseOptions', { scope: 'file' }, { masterKey: MASTER_KEY })
  .extend('from', { scope: 'file' }, ({ database }) => database.settings)
  .extend('bob', { scope: 'file' }, ({ side }) =>
    registerUser(side, { name: 'Bob', email: 'bob@example.org' }),
  )
  .extend('ada', { scope: 'file' }, ({ side }) =>
    registerUser(side, { name: 'Ada', email: 'ada@example.org' }),
  )
  .extend('here', { scope: 'file' }, async ({ ada, bob, side }) => {
    await register(side, ada);
    await write(side, bob);
    await write(side, ada);
    return side;
  })
  .extend('listed', { scope: 'file' }, ({ here: _written }, { onCleanup }) => {
    const used = new AsyncDisposableStack();
    onCleanup(() => used.disposeAsync());
    return async (...names: readonly string[]): Promise<string> => {
      const file = join(used.use(await temporaryDataDir()).path, 'streams.txt');
      await writeFile(file, names.join('\n'));
      return file;
    };
  })
  .extend(
    'copy',
    { scope: 'file' },
    ({ from }) =>
      (to: CommandDatabase, file: string, ...more: readonly string[]) =>
        callLine(from, [...copyArgs(to, file), ...more]),
  )
  /** Copies by a clock, with all that the users own. */
  .extend(
    'copyBy',
    { scope: 'file' },
    ({ from }) =>
      (clock: TestClock, to: CommandDatabase, file: string) =>
        callLine(from, [...copyArgs(to, file), '--with-owned'], { clock }),
  )
  /** Copies until it is ended, and has begun. */
  .extend(
    'keepCopying',
    { scope: 'file' },
    ({ from }) =>
      async (
        { side, database }: Awaited<ReturnType<typeof openCell>>,
        file: string,
        { clock = REAL_TIME, owned = false } = {},
      ) => {
        const ending = new AbortController();
        const args = [...copyArgs(database, file), '--follow', ...(owned ? ['--with-owned'] : [])];
        const copying = callLine(from, args, { clock, signal: ending.signal });
        await until(
          async () => (await eventsOf(side)).length,
          (count) => count > 0,
        );
        const end = () => {
          ending.abort();
          return copying;
        };
        return { end };
      },
  );

const eventsOf = async ({ eventLog }: CommandSide) => {
  const all = await Array.fromAsync(readBetween(eventLog, { after: START, upTo: await eventLog.head() }));
  return all.flat();
};
/** The events of each stream in a log. The order of streams differs, because webhooks come last. */
const formsOf = async (side: CommandSide, streams: ReadonlySet<string>) =>
  (await eventsOf(side))
    .filter(({ stream }) => streams.has(stream))
    .map((event) => canonicalForm(event))
    .toSorted();
const streamsAfter = async (side: CommandSide, version: number) =>
  new Set((await eventsOf(side)).slice(version).map(({ stream }) => stream as string));

const untilReacted = (side: CommandSide) =>
  until(
    async () => (await eventsOf(side)).filter(({ type }) => type === 'comment.deleted').length,
    (count) => count >= 2,
  );

test('copies a user with all that is theirs into a log in use, and resumes without a second event', async ({
  ada,
  copy,
  here,
  listed,
}) => {
  await untilReacted(here);
  await using cell = await openCell();
  await write(cell.side, await registerUser(cell.side, { name: 'Native' }));
  await until(
    async () => (await eventsOf(cell.side)).some(({ type }) => type === 'comment.deleted'),
    Boolean,
  );
  const before = (await eventsOf(cell.side)).length;
  const file = await listed('# the tenant', `user-${ada}`);
  const copied = await copy(cell.database, file, '--with-owned');
  // On a busy machine, it takes long enough to show its progress.
  expect(copied).toMatchObject({ exit: 0, complaint: expect.stringMatching(/^(?:Copying: .*)?$/) });
  const streams = await streamsAfter(cell.side, before);
  const kinds = [...streams].map((stream) => stream.slice(0, stream.indexOf('-'))).toSorted();
  expect(kinds).toEqual([
    ...['article', 'article', 'command', 'comment', 'comment', 'email', 'user', 'webhook'],
  ]);
  expect(await formsOf(cell.side, streams)).toEqual(await formsOf(here, streams));
  expect((await eventsOf(cell.side)).at(-1)?.type).toBe('webhook.registered');
  expect(copied.lines.join()).toMatch(/(\d+) events of 8 streams are in the other log, \1 of them/);
  const after = (await eventsOf(cell.side)).length;
  const again = await copy(cell.database, file, '--with-owned');
  expect(again.lines.join()).toMatch(/events of 8 streams are in the other log, 0 of them/);
  expect((await eventsOf(cell.side)).length).toBe(after);
  // Personal data opens there, the cascade has happened already, and the read model is what the log says.
  await using _projecting = await startProjecting(cell.side);
  await untilProjected(cell.side);
  const { rows } = await cell.side.pool.query('select name from read_model.users where id = $1', [ada]);
  expect(rows).toEqual([{ name: 'Ada' }]);
  expect(await callLine(cell.database.settings, ['audit', 'verify'])).toMatchObject({ exit: 0 });
  expect((await eventsOf(cell.side)).length).toBe(after);
});

test('a cell that was never started begins with what is copied into it', async ({ copy, here, listed }) => {
  await untilReacted(here);
  await using database = await createCommandDatabase({ masterKey: MASTER_KEY });
  expect(await copy(database, await listed('user-*'))).toMatchObject({ exit: 0 });
  await using side = await database.open();
  expect(new Set((await eventsOf(side)).map(({ type }) => type))).toEqual(new Set(['user.registered']));
});

test('continues with new events until it is ended, also in streams that are new', async ({
  ada,
  bob,
  here,
  keepCopying,
  listed,
}) => {
  await using cell = await openCell();
  const copying = await keepCopying(cell, await listed(`user-${ada}`), { owned: true });
  const article = await draftArticle(here, ada);
  await until(
    async () => (await eventsOf(cell.side)).some(({ stream }) => stream === `article-${article}`),
    Boolean,
  );
  const last = await draftArticle(here, ada);
  await draftArticle(here, bob);
  const { exit, complaint } = await copying.end();
  expect({ exit, complaint }).toMatchObject({
    exit: 0,
    complaint: expect.stringContaining('they are equal'),
  });
  const streams = new Set((await eventsOf(cell.side)).map(({ stream }) => stream as string));
  expect(streams).toContain(`article-${last}`);
  expect(await formsOf(cell.side, streams)).toEqual(await formsOf(here, streams));
});

test('leaves the reactions of the other cell to stand by, and to begin again afterwards', async ({
  bob,
  keepCopying,
  listed,
}) => {
  await using cell = await openCell();
  const copying = await keepCopying(cell, await listed(`user-${bob}`));
  const author = await registerUser(cell.side, { name: 'Native' });
  const doomed = await draftArticle(cell.side, author);
  await addComment(cell.side, author, doomed);
  await cell.side.send({ type: 'DeleteArticle', articleId: doomed } as never, by(as(author)));
  const types = async () => (await eventsOf(cell.side)).map(({ type }) => type);
  expect(await types()).not.toContain('comment.deleted');
  expect(await copying.end()).toMatchObject({ exit: 0 });
  await until(types, (all) => all.includes('comment.deleted'));
});

/** Has the reactions of the former cell stand by, as if no process executed them. */
const holdHere = ({ pool, clock }: CommandSide) =>
  holdFollowers(pool, [PROCESS_MANAGER, REACTIONS, LEASE], { clock });

test('waits for what follows from a copied event, also without --follow', async ({
  ada,
  copy,
  copyBy,
  here,
  listed,
}) => {
  await using cell = await openCell();
  await untilReacted(here);
  const held = await holdHere(here);
  const file = await listed(`user-${ada}`);
  const deletions = (await eventsOf(here)).filter(({ type }) => type === 'comment.deleted').length;
  await write(here, ada);
  const clock = createTestClock();
  const copying = copyBy(clock, cell.database, file);
  await clock.pass(LOOK_EVERY_MS);
  await clock.pass(LOOK_EVERY_MS);
  expect(await eventsOf(cell.side)).toEqual([]);
  await held[Symbol.asyncDispose]();
  await using _moving = clock.keepMoving(LOOK_EVERY_MS);
  expect(await copying).toMatchObject({ exit: 0 });
  expect((await eventsOf(here)).filter(({ type }) => type === 'comment.deleted')).toHaveLength(deletions + 1);
  const streams = new Set((await eventsOf(cell.side)).map(({ stream }) => stream as string));
  expect(await formsOf(cell.side, streams)).toEqual(await formsOf(here, streams));
  expect((await copy(cell.database, file, '--with-owned')).lines.join()).toContain(', 0 of them');
});

test('refuses to copy while reactions of the former cell lag, and names them', async ({
  ada,
  copyBy,
  here,
  listed,
}) => {
  await using cell = await openCell();
  await using _held = await holdHere(here);
  await write(here, ada);
  const clock = createTestClock();
  await using _moving = clock.keepMoving(MOVES_MS);
  expect(await copyBy(clock, cell.database, await listed(`user-${ada}`))).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(/Reactions of this cell lag: events after \d+ \(process-manager\)/),
  });
  expect(await eventsOf(cell.side)).toEqual([]);
});

test('refuses webhooks at the end while reactions of the former cell lag', async ({
  ada,
  here,
  keepCopying,
  listed,
}) => {
  await using cell = await openCell();
  // The clock does not move until the copy has begun, which waits for reactions to the former tests.
  await until(
    async () => untilExecuted(here.pool, await here.eventLog.head(), REAL_TIME),
    (pending) => pending.length === 0,
  );
  const clock = createTestClock();
  const copying = await keepCopying(cell, await listed(`user-${ada}`), { clock, owned: true });
  await using _held = await holdHere(here);
  await write(here, ada);
  await using _moving = clock.keepMoving(MOVES_MS);
  expect(await copying.end()).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('Reactions of this cell lag'),
  });
  expect((await eventsOf(cell.side)).map(({ type }) => type)).not.toContain('webhook.registered');
});

test('refuses what refers to something that is neither copied nor there, and writes nothing', async ({
  ada,
  copy,
  here,
  listed,
}) => {
  await using cell = await openCell();
  const article = await draftArticle(here, ada);
  const file = await listed(`article-${article}`);
  expect(await copy(cell.database, file)).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining(`article-${article} refers to user-${ada} at version 1, but`),
  });
  expect(await eventsOf(cell.side)).toEqual([]);
  expect(await copy(cell.database, await listed('user-*'))).toMatchObject({ exit: 0 });
  expect(await copy(cell.database, file)).toMatchObject({ exit: 0 });
});

test('refuses a stream that the other log has with other events, before anything is written', async ({
  ada,
  copy,
  here,
  listed,
}) => {
  await using cell = await openCell();
  const file = await listed('user-*');
  await copy(cell.database, file);
  const rename = (side: CommandSide, name: string) =>
    side.send({ type: 'UpdateUser', userId: ada, name } as never, by(as(ada)));
  await rename(cell.side, 'Ada there');
  expect((await copy(cell.database, file)).lines.join()).toContain('1 streams have further events');
  await rename(here, 'Ada here');
  const late = await registerUser(here, { name: 'Late' });
  expect(await copy(cell.database, file)).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining(`has user-${ada} with another event at version 2`),
  });
  expect(await Array.fromAsync(cell.side.eventLog.read(`user-${late}` as StreamName))).toEqual([]);
});

test('an erasure goes along', async ({ copy, here, listed }) => {
  await using cell = await openCell();
  const gone = await registerUser(here, { name: 'Gone' });
  await here.send({ type: 'DeleteUser', userId: gone } as never, by(as(gone)));
  await until(
    () => here.keys.find([gone]),
    (found) => found.get(gone) === 'destroyed',
  );
  expect(await copy(cell.database, await listed(`user-${gone}`))).toMatchObject({ exit: 0 });
  expect((await cell.side.keys.find([gone])).get(gone)).toBe('destroyed');
});

test('refuses a cell with another master key, or a person who has another key there', async ({
  ada,
  copy,
  listed,
}) => {
  const file = await listed(`user-${ada}`);
  await using foreign = await createCommandDatabase();
  await using _side = await foreign.open();
  expect(await copy(foreign, file)).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('The other cell has another MASTER_KEY'),
  });
  await using cell = await openCell();
  await cell.side.keys.obtain(ada);
  expect(await copy(cell.database, file)).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining(`Person ${ada} has another key`),
  });
});

test.for<[string, readonly string[], string]>([
  ['--switch', ['--streams', 'streams.txt', '--switch'], '--switch copies the whole log'],
  ['--with-owned alone', ['--with-owned'], '--with-owned goes with --streams'],
  ['--follow alone', ['--follow'], '--follow goes with --streams'],
])('%s is a wrong call', async ([_, args, complaint], { from }) => {
  const to = ['--to', 'postgres://127.0.0.1:1/annals'];
  expect(await callLine(from, ['log', 'copy', ...to, ...args])).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining(complaint),
  });
});

test('a file that names nothing, or something else, is refused', async ({ copy, listed }) => {
  await using cell = await openCell();
  expect(await copy(cell.database, await listed('# nothing'))).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('names no stream'),
  });
  expect(await copy(cell.database, await listed('user 7'))).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('“user 7” in --streams is not the name of a stream'),
  });
  expect((await copy(cell.database, '/nowhere/streams.txt')).exit).toBe(1);
});
