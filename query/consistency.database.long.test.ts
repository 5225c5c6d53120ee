import express from 'express';
import { pino } from 'pino';
import { expect } from 'vitest';
import { awaitConsistency } from '#edge/rest/reads/consistency.ts';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openReadModelNotifier, type ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { openReadPosition, type ReadPosition } from '#shared/read-model/read-position.ts';
import { startProjector } from '../projector/service.ts';
import { as, by, type CommandSide, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { test } from '../test/engines/processes.ts';
import type { ArticleId } from '../test/publishing-ids.ts';
import { serveRoutes } from '../test/serve.ts';
import { until } from '../testing/until.ts';

const openNotifier = ({ databaseUrl }: CommandSide): ReadModelNotifier =>
  openReadModelNotifier({ url: databaseUrl, clock: REAL_TIME });

const project = (side: CommandSide, notifier: ReadModelNotifier) =>
  startProjector({ ...side, notifier, log: pino({ level: 'silent' }), metrics: createMetrics() });

/** Serves the title of an article from the read model, behind the consistency middleware. */
const serveReads = (
  { eventLog, pool }: CommandSide,
  { readPosition, waitMaxMs = 20_000 }: { readPosition: Pick<ReadPosition, 'reaches'>; waitMaxMs?: number },
) =>
  serveRoutes(
    express
      .Router()
      .get(
        '/articles/:id',
        awaitConsistency({ readPosition, eventLog, waitMaxMs }),
        async (request, response) => {
          const { rows } = await pool.query('select title from read_model.articles where id = $1', [
            request.params.id,
          ]);
          response.send(rows[0]?.title ?? null);
        },
      ),
  );

const tokenOf = (log: LogIdentity, position: number) => formatCursor(log, position as Position);

const read = (url: string, token: string, init: RequestInit = {}) =>
  fetch(`${url}/articles/1`, { ...init, headers: { 'Consistency-Token': token } });

/** Writes and immediately reads, several times. Returns the titles that were stale. */
const writeAndRead = async (side: CommandSide, url: string, times: number): Promise<readonly string[]> => {
  const author = await registerUser(side);
  const articleId: ArticleId = await draftArticle(side, author);
  const stale: string[] = [];
  for (let n = 1; n <= times; n += 1) {
    const title = `Title ${n}`;
    const { cursor } = await side.send({ type: 'EditArticle', articleId, title }, by(as(author)));
    const response = await fetch(`${url}/articles/${articleId}`, {
      headers: { 'Consistency-Token': cursor },
    });
    const seen = await response.text();
    if (seen !== title) stale.push(`${response.status} ${seen} instead of ${title}`);
  }
  return stale;
};

test('a writer who reads at once sees the write, every time', async ({ side }) => {
  await using notifier = openNotifier(side);
  await using _projector = await project(side, notifier);
  await using readPosition = openReadPosition({ ...side, notifier });
  await using server = await serveReads(side, { readPosition });
  expect(await writeAndRead(side, server.url, 500)).toEqual([]);
});

test('so do writers who read from processes that do not run the projector', async ({ database, side }) => {
  await using projecting = await database.open();
  await using projectorNotifier = openNotifier(side);
  await using _projector = await project(projecting, projectorNotifier);
  const visit = async () => {
    await using reading = await database.open();
    await using notifier = openNotifier(side);
    await using readPosition = openReadPosition({ ...reading, notifier });
    await using server = await serveReads(reading, { readPosition });
    return await writeAndRead(side, server.url, 50);
  };
  expect((await Promise.all([visit(), visit()])).flat()).toEqual([]);
});

test('while the projector is stopped, a read is refused after its timeout', async ({ side }) => {
  await using notifier = openNotifier(side);
  await using readPosition = openReadPosition({ ...side, notifier });
  await using server = await serveReads(side, { readPosition, waitMaxMs: 50 });
  const { cursor } = await side.send(
    { type: 'RegisterUser', name: 'Ada', email: null, role: 'reader' },
    by({ kind: 'system', name: 'test' }),
  );
  const response = await read(server.url, cursor);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.json()).toMatchObject({ code: 'not_yet_visible' });
});

test.for<[string, (log: LogIdentity) => string]>([
  ['malformed', () => 'yesterday'],
  ['empty', () => ''],
  ['sent twice', (log) => `${tokenOf(log, 1)}, ${tokenOf(log, 1)}`],
  ['of another log', () => tokenOf('16fd2706-8baf-433b-82eb-8c7fada847da' as LogIdentity, 1)],
])('a token that is %s is refused', async ([, token], { side }) => {
  await using server = await serveReads(side, { readPosition: { reaches: async () => true } });
  const response = await read(server.url, token(side.eventLog.identity));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'unknown_cursor',
    detail: expect.stringContaining('Consistency-Token'),
  });
});

test('a token beyond the end of the log is refused long before the timeout', async ({ side }) => {
  await using notifier = openNotifier(side);
  await using readPosition = openReadPosition({ ...side, notifier });
  await using server = await serveReads(side, { readPosition, waitMaxMs: 60_000 });
  const response = await read(server.url, tokenOf(side.eventLog.identity, (await side.eventLog.head()) + 1));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'unknown_cursor',
    detail: expect.stringContaining('beyond the end'),
  });
});

test('a read stops waiting when its client disconnects', async ({ side }) => {
  await using notifier = openNotifier(side);
  await using readPosition = openReadPosition({ ...side, notifier });
  const answers: Promise<boolean>[] = [];
  const watched: Pick<ReadPosition, 'reaches'> = {
    reaches(...question) {
      const answer = readPosition.reaches(...question);
      answers.push(answer);
      return answer;
    },
  };
  await using server = await serveReads(side, { readPosition: watched, waitMaxMs: 60_000 });
  await registerUser(side);
  const leaving = new AbortController();
  const answer = read(server.url, tokenOf(side.eventLog.identity, await side.eventLog.head()), {
    signal: leaving.signal,
  });
  const failed = expect(answer).rejects.toThrow();
  await until(
    () => answers.length,
    (length) => length === 2,
  );
  leaving.abort();
  await failed;
  expect(await Promise.all(answers)).toEqual([false, false]);
});

test('a read without a token does not wait, and caches tell the two apart', async ({ side }) => {
  const reaches = () => Promise.reject(new Error('nobody is to wait'));
  await using server = await serveReads(side, { readPosition: { reaches } });
  const response = await fetch(`${server.url}/articles/1`);
  expect(response.status).toBe(200);
  expect(response.headers.get('vary')).toContain('Consistency-Token');
});
