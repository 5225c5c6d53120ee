// Takes minutes, so it starts first.
import { describe, expect, test } from 'vitest';
import type { EventId, Position } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { positionOfOwnCursor } from '#shared/event-log/own-cursor.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { listParked } from '#shared/read-model/parked.ts';
import { readChainEnd } from '../../proof/stored/blocks.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { allRecorded, type CommandSide } from '../engines/command-side.ts';
import { SERVER_VERSIONS } from '../engines/eventstoredb/product.ts';
import { untilProjected } from '../engines/projection.ts';
import { createVerifiedReadModel } from '../engines/verified-read-model.ts';
import { startNeighbour } from './eventstoredb-neighbour.ts';
import {
  endOf,
  isOurs,
  startUsedServer,
  type UsedServer,
  workBeside,
  writeBeyond,
} from './eventstoredb-shared-server.ts';
import { startGuardedWebhooks } from './guarded-webhooks.ts';

const PUBLISHED = 5;
const PROVEN = { outcome: 'proven', findings: { listed: [] } };

const idsIn = async (side: Pick<CommandSide, 'eventLog'>): Promise<readonly string[]> =>
  (await allRecorded(side)).map(({ id }) => id);

const articlesIn = async (side: CommandSide) =>
  (await allRecorded(side)).filter(({ stream }) => stream.startsWith('article-'));

const parkedIn = async ({ pool }: CommandSide) => (await Array.fromAsync(listParked(pool))).flat();

const expectOursOnly = async ({ idsOfOurs }: UsedServer, side: CommandSide): Promise<void> => {
  expect(await idsIn(side)).toEqual(await idsOfOurs());
  expect(await side.eventLog.cutStreams?.()).toMatchObject({ streams: [] });
  expect(await parkedIn(side)).toEqual([]);
};

describe.each(SERVER_VERSIONS)(`EventStoreDB %s, shared with a neighbour (TEST_SEED=${SEED})`, (version) => {
  test('our events alone are projected, signed, proven and rebuilt, while the server is killed', async () => {
    await using server = await startUsedServer(version);
    const { idsOfOurs, killedDuring } = server;
    await using neighbour = startNeighbour(server);
    await using readModel = await createVerifiedReadModel(server.startLog);
    const { side, authors, writeSome } = readModel;
    await workBeside(neighbour, async () => {
      await killedDuring(Promise.all(authors.map(writeSome)));
      await killedDuring(untilProjected(side));
    });
    const before = await digestOf(side.pool, 'read_model');
    await killedDuring(readModel.sign());
    expect(await killedDuring(readModel.verify())).toMatchObject(PROVEN);
    await killedDuring(rebuild(readModel.work()));
    expect(await digestOf(side.pool, 'read_model')).toEqual(before);
    await readModel.expectReplayed();
    expect(await readModel.verify()).toMatchObject(PROVEN);
    expect((await readChainEnd(side.pool)).count).toBe((await idsOfOurs()).length);
    await expectOursOnly(server, side);
  });

  test('webhooks deliver our events alone, in order, while the server is killed', async () => {
    await using server = await startUsedServer(version);
    await using neighbour = startNeighbour(server);
    await using webhooks = await startGuardedWebhooks(server);
    await workBeside(neighbour, () => server.killedDuring(webhooks.publishAndDeliver(PUBLISHED)));
    const ids = (await articlesIn(webhooks.side)).map(({ id }) => id);
    expect(await webhooks.delivered()).toEqual({ planned: ids, received: ids });
    await expectOursOnly(server, webhooks.side);
    expect(webhooks.reported).toEqual([]);
  });

  test.each([
    ['our last event', { lost: 1, isMore: false }],
    ['our last events and records of the neighbour behind them', { lost: 4, isMore: true }],
  ])(
    'a log that lost %s is reported, though the neighbour has written beyond them since',
    async (_, { lost, isMore }) => {
      await using server = await startUsedServer(version);
      await using webhooks = await startGuardedWebhooks(server);
      const { side, reported } = webhooks;
      {
        await using neighbour = startNeighbour(server);
        await workBeside(neighbour, () => webhooks.publishAndDeliver(PUBLISHED));
      }
      await server.backUp();
      await webhooks.publishAndDeliver(lost);
      await untilProjected(side);
      await webhooks.untilNoted();
      if (isMore) await writeBeyond(server, await endOf(server));
      const articles = await articlesIn(side);
      const ids = articles.map(({ id }) => id);
      const before = await digestOf(side.pool, 'read_model');
      const end = await endOf(server);
      expect(reported).toEqual([]);

      await server.restore((elsewhere) => writeBeyond(elsewhere, end));
      const instead = (await server.records()).find(
        ({ position }) => position === articles.at(-lost)?.position,
      );
      expect(instead && isOurs(instead.stream)).toBe(false);
      await using _neighbour = startNeighbour(server);
      await until(
        () => reported,
        ({ length }) => length > 0,
      );
      await expect(webhooks.publish(1)).rejects.toThrow('the event log has lost events');
      await expect(webhooks.startAgain()).rejects.toMatchObject({
        name: 'StartRefused',
        message: expect.stringContaining('The event log has lost events since'),
      });
      await using eventLog = await openEventLog({ url: server.address, clock: REAL_TIME });
      const { position, id } = articles.at(-1) ?? {};
      const cursor = formatCursor(eventLog.identity, position as Position, id as EventId);
      await expect(positionOfOwnCursor(eventLog, cursor)).rejects.toMatchObject({
        code: 'cursor_of_lost_history',
      });
      expect(reported).toEqual([expect.stringContaining('The event log has lost events')]);
      // Nothing of the neighbour is taken for ours.
      expect(await idsIn({ eventLog })).toEqual(await server.idsOfOurs());
      expect(await webhooks.delivered()).toEqual({ planned: ids, received: ids });
      expect(await digestOf(side.pool, 'read_model')).toEqual(before);
      expect(await parkedIn(side)).toEqual([]);
    },
  );

  test('a log that lost records of the neighbour alone goes on, and nothing is reported', async () => {
    await using server = await startUsedServer(version);
    await using webhooks = await startGuardedWebhooks(server);
    await webhooks.publishAndDeliver(PUBLISHED);
    await server.backUp();
    const end = await endOf(server);
    await writeBeyond(server, end);
    await until(server.searched, (from) => from > end);
    await server.restore((elsewhere) => writeBeyond(elsewhere, 0));
    await using neighbour = startNeighbour(server);
    await workBeside(neighbour, () => webhooks.publishAndDeliver(PUBLISHED));
    const ids = (await articlesIn(webhooks.side)).map((each) => each.id);
    expect(await webhooks.delivered()).toEqual({ planned: ids, received: ids });
    await expectOursOnly(server, webhooks.side);
    expect(webhooks.reported).toEqual([]);
    await using _again = await webhooks.startAgain();
  });
});
