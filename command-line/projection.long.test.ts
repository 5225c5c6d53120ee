import { describe, expect, test } from 'vitest';
import { inTransaction } from '#shared/database/transaction.ts';
import { holdCheckpoint } from '#shared/follower/checkpoint.ts';
import { callAt } from '../test/engines/call-line.ts';
import {
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../test/engines/command-side.ts';
import { createDatabase } from '../test/engines/database.ts';
import { SHARED_LOG_ENGINES } from '../test/engines/log-engines.ts';
import { appendRaw, startProjecting, untilProjected } from '../test/engines/projection.ts';
import { scaled } from '../testing/load.ts';
import type { Terminal } from './terminal.ts';

const callOn =
  (environment: Terminal['environment'], confirm?: Terminal['confirm']) =>
  (...args: readonly string[]) =>
    callAt({ environment, ...(confirm && { confirm }) }, args);

describe.each(SHARED_LOG_ENGINES)('on %s', (_name, startLog) => {
  /** A database whose projector runs, and a way to call the command line on it. */
  const open = async () => {
    await using opening = new AsyncDisposableStack();
    const database = opening.use(await createCommandDatabase({ startLog }));
    const side = opening.use(await database.open());
    opening.use(await startProjecting(side));
    const resources = opening.move();
    const call = callOn(database.settings);
    const answering = (answer: boolean) => callOn(database.settings, async () => answer);
    return { side, call, answering, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  };

  const parkArticle = async (side: CommandSide): Promise<string> => {
    const articleId = await draftArticle(side, await registerUser(side));
    const stream = `article-${articleId}`;
    await appendRaw(side, stream, { type: 'article.eaten', data: {} }, 2);
    await untilProjected(side);
    return stream;
  };

  test('a parked aggregate is listed with its event, the time and the reason', async () => {
    await using annals = await open();
    await untilProjected(annals.side);
    expect(await annals.call('projection', 'parked')).toMatchObject({
      exit: 0,
      lines: ['Nothing is parked.'],
    });
    expect(await annals.call('projection', 'parked', '--json')).toMatchObject({ exit: 0, lines: [] });
    const stream = await parkArticle(annals.side);
    const line = new RegExp(
      `^\\S+Z {2}${stream}@3 {2}article\\.eaten {2}at position \\d+: Event \\S+ .*has the unknown type "article\\.eaten"$`,
    );
    expect((await annals.call('projection', 'parked')).lines).toEqual([expect.stringMatching(line)]);
    const [json = ''] = (await annals.call('projection', 'parked', '--json')).lines;
    expect(JSON.parse(json)).toMatchObject({
      stream,
      version: 3,
      type: 'article.eaten',
      since: expect.stringMatching(/Z$/),
    });
  });

  test('a retry says what still blocks it, and a skip which event it skips', async () => {
    await using annals = await open();
    const [stream, other] = [await parkArticle(annals.side), await parkArticle(annals.side)];
    expect(await annals.call('projection', 'retry', stream)).toMatchObject({
      exit: 1,
      lines: [expect.stringContaining(`Still parked: ${stream}@3  article.eaten`)],
      complaint:
        'It stays parked: fix the cause and retry, or skip the event with “projection release <stream>”.',
    });
    expect(await annals.call('projection', 'release', stream)).toMatchObject({
      exit: 64,
      complaint: expect.stringContaining('add --yes'),
    });
    expect(await annals.answering(false)('projection', 'release', stream)).toMatchObject({
      exit: 1,
      complaint: `Nothing was skipped; ${stream} stays parked.`,
    });
    expect(await annals.answering(true)('projection', 'release', stream)).toMatchObject({
      exit: 0,
      lines: [
        expect.stringContaining(`To be skipped permanently: ${stream}@3  article.eaten`),
        `${stream} is in the read model again, without that event.`,
      ],
    });
    expect(await annals.call('projection', 'retry', '--all')).toMatchObject({
      exit: 1,
      complaint: expect.stringContaining('It stays parked'),
    });
    expect(await annals.call('projection', 'release', other, '--yes')).toMatchObject({ exit: 0 });
    expect(await annals.call('projection', 'retry', '--all')).toMatchObject({
      exit: 0,
      lines: ['Nothing is parked.'],
    });
    expect((await annals.side.pool.query('select count(*) as rows from read_model.articles')).rows).toEqual([
      { rows: 2 },
    ]);
  });

  test('an aggregate that is not parked can be neither retried nor skipped', async () => {
    await using annals = await open();
    await registerUser(annals.side);
    await untilProjected(annals.side);
    for (const command of [['retry'], ['release', '--yes']]) {
      expect(await annals.call('projection', ...command, 'article-7')).toMatchObject({
        exit: 1,
        complaint: 'article-7 is not parked: “projection parked” lists those that are.',
      });
    }
    expect(await annals.call('projection', 'retry')).toMatchObject({
      exit: 64,
      complaint: expect.stringContaining('either <stream> or --all'),
    });
    expect(await annals.call('projection', 'retry', 'article-7', '--all')).toMatchObject({ exit: 64 });
  });
});

test('an empty read model is reported', async () => {
  await using database = await createDatabase();
  const call = callOn({ DATABASE_URL: database.url, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') });
  expect(await call('projection', 'parked')).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('There is no read model yet'),
  });
});

test(
  'if the read model is blocked for too long, the commands say so and change nothing',
  async () => {
    await using database = await createCommandDatabase();
    await using side = await database.open();
    await using _projector = await startProjecting(side);
    const articleId = await draftArticle(side, await registerUser(side));
    await appendRaw(side, `article-${articleId}`, { type: 'article.eaten', data: {} }, 2);
    await untilProjected(side);
    const call = callOn(database.settings);
    await inTransaction(side.pool, async (connection) => {
      await holdCheckpoint(connection, 'projector');
      const complaint = expect.stringContaining('The database aborted it');
      for (const command of [['retry'], ['release', '--yes']])
        expect(await call('projection', ...command, `article-${articleId}`)).toMatchObject({
          exit: 1,
          complaint,
        });
    });
    expect((await call('projection', 'parked')).lines).toHaveLength(1);
  },
  scaled(60_000),
);
