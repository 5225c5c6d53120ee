import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import {
  findOperatorCommand,
  finishOperatorCommand,
  LostOperatorCommand,
  type NewOperatorCommand,
  requestOperatorCommand,
  takeOperatorCommand,
} from '#process/operations/operator-commands.ts';
import { retry } from '#shared/projection/retry.ts';
import { findParked } from '#shared/read-model/parked.ts';
import { type CommandSide, draftArticle } from '../test/engines/command-side.ts';
import { test } from '../test/engines/processes.ts';
import { appendRaw, untilProjected } from '../test/engines/projection.ts';
import { until } from '../testing/until.ts';
import { startProjectionCommands } from './operator-commands.ts';

test.beforeAll(async ({ projector: _started, side }) => {
  await migrateOperations(side.pool);
});

const KINDS = ['retry', 'release'] as const;
const start = (side: CommandSide) => startProjectionCommands({ ...side, log: pino({ level: 'silent' }) });

const parkedArticle = async (side: CommandSide, author: UserId): Promise<StreamName> => {
  const stream = `article-${await draftArticle(side, author)}` as StreamName;
  await appendRaw(side, stream, { type: 'article.engraved', data: {} }, 2);
  await untilProjected(side);
  return stream;
};

/** Removes the cause of the parking, like a release that knows the event. */
const mend = ({ pool }: CommandSide, stream: StreamName) =>
  pool.query(
    `insert into public.projection_skip (stream, version, position, reason) values ($1, 3, 0, 'mended')`,
    [stream],
  );

const ask = ({ pool }: CommandSide, command: NewOperatorCommand) =>
  requestOperatorCommand(
    pool,
    command,
    { by: 'user:1', client: 'console', request: randomUUID(), key: undefined },
    async () => {},
  );

const finished = ({ pool }: CommandSide, id: string) =>
  until(
    () => findOperatorCommand(pool, id),
    (command) => command?.finishedAt != null,
  );

test('an operator command reports that the item is unparked, or why it stays parked', async ({
  author,
  side,
}) => {
  const [mended, damaged] = [await parkedArticle(side, author), await parkedArticle(side, author)];
  await mend(side, mended);
  await using _orders = await start(side);
  expect(await finished(side, await ask(side, { kind: 'retry', stream: mended }))).toMatchObject({
    state: 'done',
    by: 'user:1',
  });
  const stays = await finished(side, await ask(side, { kind: 'retry', stream: damaged }));
  expect(stays).toMatchObject({
    state: 'failed',
    outcome: expect.stringContaining('version 3, article.engraved'),
  });
  const early = await finished(
    side,
    await ask(side, { kind: 'release', stream: damaged, version: 2 as Version }),
  );
  expect(early).toMatchObject({ state: 'failed', outcome: expect.stringContaining('parked at version 3') });
  expect(
    await finished(side, await ask(side, { kind: 'release', stream: damaged, version: 3 as Version })),
  ).toMatchObject({ state: 'done' });
  expect(await finished(side, await ask(side, { kind: 'retry', stream: damaged }))).toMatchObject({
    state: 'failed',
  });
});

test('a command of a process that died starts again, and a late result of that process is void', async ({
  author,
  side,
}) => {
  const stream = await parkedArticle(side, author);
  await mend(side, stream);
  const id = await ask(side, { kind: 'retry', stream });
  const left = await takeOperatorCommand(side.pool, KINDS);
  expect(left).toMatchObject({ id, attempt: 1 });
  const again = await takeOperatorCommand(side.pool, KINDS);
  if (!left || !again) throw new Error('the command was not taken up');
  // The paused process resumes: its work is rolled back, because it cannot record the result.
  const late = retry({ ...side }, stream, (connection) =>
    finishOperatorCommand(connection, left, { state: 'done', outcome: 'Too late.' }),
  );
  await expect(late).rejects.toThrow(LostOperatorCommand);
  expect(await findParked(side.pool, stream)).toBeDefined();
  await using _orders = await start(side);
  expect(await finished(side, id)).toMatchObject({
    state: 'done',
    outcome: `${stream} is in the read model again.`,
  });
  expect(await findParked(side.pool, stream)).toBeUndefined();
});

test('a command that never completes does not block the others', async ({ author, side }) => {
  const stream = await parkedArticle(side, author);
  const id = await ask(side, { kind: 'retry', stream });
  for (let attempt = 1; attempt <= 5; attempt += 1)
    expect(await takeOperatorCommand(side.pool, KINDS)).toMatchObject({ id, attempt });
  expect(await takeOperatorCommand(side.pool, KINDS)).toBeUndefined();
  expect(await findOperatorCommand(side.pool, id)).toMatchObject({
    state: 'failed',
    outcome: expect.stringContaining('5 times'),
  });
});
