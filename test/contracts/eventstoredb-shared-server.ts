import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { randomOf } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { type KeptStandIn, startKeptStandIn } from '../engines/eventstoredb/kept.ts';
import { ours } from '../engines/eventstoredb/ours.ts';
import type { ServerVersion } from '../engines/eventstoredb/product.ts';
import type { StartLog } from '../engines/log-engines.ts';
import {
  type Counted,
  expectBusy,
  isBusy,
  type SharedServer,
  startNeighbour,
} from './eventstoredb-neighbour.ts';
import { appendSome, send, streamOfNeighbour } from './eventstoredb-neighbour-requests.ts';

/** A server that a neighbour has used long before us. */
export type UsedServer = KeptStandIn & {
  readonly startLog: StartLog;
  /** Waits for something during which the server is killed and started again. */
  killedDuring<Result>(meanwhile: Promise<Result>): Promise<Result>;
  /** The ids of our events, as they are on the disk. */
  idsOfOurs(): Promise<readonly string[]>;
};

export const startUsedServer = async (version: ServerVersion): Promise<UsedServer> => {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await startKeptStandIn(version));
  await writeHistory(server);
  const resources = opening.move();
  return {
    ...server,
    startLog: async () => ({ url: server.address, [Symbol.asyncDispose]: async () => {} }),
    async killedDuring(meanwhile) {
      const [result] = await Promise.all([meanwhile, server.restart()]);
      return result;
    },
    idsOfOurs: async () =>
      (await server.records()).flatMap(({ stream, id }) =>
        isOurs(stream) && stream !== IDENTITY ? [id] : [],
      ),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const HISTORY_APPENDS = 40;
const HISTORY_EVENTS = 500;

/** The records of a neighbour from former times, many pages of them. */
const writeHistory = async (server: SharedServer): Promise<void> => {
  const client = EventStoreDBClient.connectionString(server.address);
  const random = randomOf(SEED);
  for (let n = 0; n < HISTORY_APPENDS; n += 1) {
    const requested = { client, stream: streamOfNeighbour(random), random };
    await appendSome(HISTORY_EVENTS, requested);
    await send(random.pick(['limits', 'deletions', 'tombstones', 'links']), requested);
  }
  server.scavenge();
  await client.dispose();
};

const IDENTITY = ours('annals_log-identity');

export const isOurs = (stream: string): boolean => stream.startsWith(ours(''));

/** Where the last record of all begins. */
export const endOf = async ({ address }: SharedServer): Promise<number> => {
  const client = EventStoreDBClient.connectionString(address);
  const read = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
  const [last] = await Array.fromAsync(read);
  await client.dispose();
  return Number(last?.event?.position?.commit);
};

/** Enough records that readers of ours move on over them. */
const BEYOND_APPENDS = 50;

/** A neighbour writes beyond a position. */
export const writeBeyond = async (server: SharedServer, position: number): Promise<void> => {
  await using neighbour = startNeighbour(server);
  await until(
    async () => neighbour.acts.appends >= BEYOND_APPENDS && (await endOf(server)) > position,
    (isBeyond) => isBeyond,
  );
};

const ROUNDS_MIN = 4;
const ROUNDS_MAX = 100;

/** Repeats some work until the neighbour has done enough meanwhile. */
export const workBeside = async (neighbour: Counted, work: () => Promise<unknown>): Promise<void> => {
  for (let round = 0; round < ROUNDS_MIN || (round < ROUNDS_MAX && !isBusy(neighbour)); round += 1)
    await work();
  expectBusy(neighbour);
};
