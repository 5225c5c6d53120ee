import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect, test } from 'vitest';
import { problemOf } from '#edge/http/problem.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { summaryOf } from '../../proof/verify/summary.ts';
import { as, by, createCommandDatabase, draftArticle, registerUser } from '../engines/command-side.ts';
import { ours } from '../engines/eventstoredb/ours.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { inEventStoreDB, type StartLog } from '../engines/log-engines.ts';
import { untilProjected } from '../engines/projection.ts';
import { createVerifiedReadModel } from '../engines/verified-read-model.ts';
import type { ArticleId } from '../publishing-ids.ts';
import { describeVerifying } from './verify-contract.ts';

describeVerifying('EventStoreDB, by its stand-in', inEventStoreDB);

test('a lagging leader is asked again before events count as lost', async () => {
  await using node: EventStoreStandIn = await startEventStoreStandIn();
  await using readModel = await createVerifiedReadModel(async () => ({
    url: node.address,
    [Symbol.asyncDispose]: async () => {},
  }));
  await readModel.sign();
  const { eventLog } = readModel.side;
  node.lag(3);
  const head: EventLog['head'] = async () => {
    const late = await eventLog.head();
    node.catchUp();
    return late;
  };
  expect((await readModel.verify({ eventLog: { ...eventLog, head } })).findings.listed).toEqual([]);
});

/** A server of the test, and a client with which its operator cuts streams. */
const startServer = async () => {
  await using opening = new AsyncDisposableStack();
  const node = opening.use(await startEventStoreStandIn());
  const client = EventStoreDBClient.connectionString(node.address);
  opening.defer(() => client.dispose());
  const resources = opening.move();
  const startLog: StartLog = async () => ({ url: node.address, [Symbol.asyncDispose]: async () => {} });
  return { client, startLog, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

test('streams that an operator cut are findings, and everything else is verified', async () => {
  await using server = await startServer();
  await using readModel = await createVerifiedReadModel(server.startLog);
  const { article, authors } = readModel;
  const deleted = await readModel.writeSome(authors[0] as UserId);
  await untilProjected(readModel.side);
  await server.client.setStreamMetadata(ours(`article-${article}`), { $tb: 1 });
  await server.client.tombstoneStream(ours(`article-${deleted}`));
  // Of another application.
  await server.client.appendToStream('order-1', jsonEvent({ type: 'order.placed', data: {}, metadata: {} }));
  await server.client.setStreamMetadata('order-2', { $maxCount: 1 });
  const report = await readModel.verify({ isOfReadModel: true });
  const cut = report.findings.listed.filter(({ kind }) => kind === 'stream_cut');
  expect(cut).toEqual([
    { kind: 'stream_cut', stream: `article-${article}`, from: 1, to: 1 },
    { kind: 'stream_cut', stream: `article-${deleted}`, from: 1, to: null },
  ]);
  expect(report.outcome).toBe('different');
  expect(summaryOf(report).join('\n')).toContain(`stream article-${article} lacks version 1;`);
  expect(Object.keys(report.findings.byKind)).toEqual(expect.not.arrayContaining(['row_different']));
});

test('after a restart, a write to a stream that was cut says so, and others go on', async () => {
  await using server = await startServer();
  await using database = await createCommandDatabase({ startLog: server.startLog });
  const { author, cut, other } = await (async () => {
    await using before = await database.open();
    const author = await registerUser(before);
    return { author, cut: await draftArticle(before, author), other: await draftArticle(before, author) };
  })();
  await server.client.setStreamMetadata(ours(`article-${cut}`), { $maxCount: 1 });
  await using after = await database.open();
  const edit = (articleId: ArticleId) =>
    after.send({ type: 'EditArticle', articleId, title: 'Two' }, by(as(author)));
  const failure = await edit(cut).catch((error: unknown) => error);
  expect(problemOf(failure)).toMatchObject({
    status: 503,
    body: {
      code: 'parked',
      detail: expect.stringContaining(`stream_cut: stream article-${cut} lacks version 1:`),
    },
  });
  expect(await edit(other)).toMatchObject({ version: 3 });
});
