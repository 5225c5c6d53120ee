import { setTimeout as delay } from 'node:timers/promises';
import { EventStoreDBClient, StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client';
import { expect } from 'vitest';
import { failureOf } from '#adapters/eventstoredb/failures.ts';
import { type Random, randomOf } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import type { Disturbance } from './event-log-engine.ts';
import { REQUESTS, type Request, send, streamOfNeighbour } from './eventstoredb-neighbour-requests.ts';

export type SharedServer = Pick<EventStoreStandIn, 'address' | 'scavenge'>;

type Act = Request | 'scavenges';

export type Counted = {
  /** How many of each have succeeded so far. */
  readonly acts: Readonly<Record<Act, number>>;
};

const ACTORS = 4;
const PAUSE_MS = 5;
const APPEND_PERCENT = 50;
const SCAVENGE_PERCENT = 10;
/** Each actor appends to, limits and deletes the streams that it has begun lately. */
const STREAMS_MAX = 8;
const NEW_STREAM_PERCENT = 60;

/**
 * Another application on the server, at random: events of all shapes, also in streams named like ours, links of
 * projections, retention, deletions, tombstones and scavenges. Ends with an error if a request fails for
 * another reason than a missing or deleted stream or a server that restarts.
 */
export const aNeighbour = (server: SharedServer): Disturbance & Counted => {
  const acts = { appends: 0, links: 0, limits: 0, deletions: 0, tombstones: 0, scavenges: 0 };
  return {
    name: `a neighbour on the server, of TEST_SEED ${SEED}`,
    acts,
    async during(signal) {
      const client = EventStoreDBClient.connectionString(server.address);
      const failed = new AbortController();
      const over = AbortSignal.any([signal, failed.signal]);
      const acting = Array.from({ length: ACTORS }, (_, place) =>
        act({ client, server, acts, random: randomOf(SEED * ACTORS + place) }, over),
      );
      try {
        await Promise.all(acting);
      } finally {
        failed.abort();
        await Promise.allSettled(acting);
        await client.dispose();
        const counts = Object.entries(acts).map(([name, count]) => `${count} ${name}`);
        console.log(`a neighbour (TEST_SEED=${SEED}): ${counts.join(', ')}`);
      }
      return [];
    },
  };
};

type Actor = {
  readonly client: EventStoreDBClient;
  readonly server: SharedServer;
  readonly acts: Record<Act, number>;
  readonly random: Random;
};

const act = async ({ client, server, acts, random }: Actor, signal: AbortSignal): Promise<void> => {
  const streams = [streamOfNeighbour(random)];
  while (!signal.aborted) {
    const request = random.chance(APPEND_PERCENT) ? 'appends' : random.pick(REQUESTS);
    if (request === 'appends' && random.chance(NEW_STREAM_PERCENT)) {
      streams.unshift(streamOfNeighbour(random));
      streams.splice(STREAMS_MAX);
    }
    if (await succeeds(request, send(request, { client, stream: random.pick(streams), random })))
      acts[request] += 1;
    if (random.chance(SCAVENGE_PERCENT)) {
      server.scavenge();
      acts.scavenges += 1;
    }
    await delay(PAUSE_MS);
  }
};

const succeeds = async (request: Request, answer: Promise<unknown>): Promise<boolean> => {
  try {
    await answer;
    return true;
  } catch (error) {
    // The server restarts, or the stream is a tombstone, or was never written.
    const isExpected =
      failureOf(error) === 'passing' ||
      error instanceof StreamDeletedError ||
      (request === 'deletions' && error instanceof WrongExpectedVersionError);
    if (!isExpected) throw error;
    return false;
  }
};

/** A neighbour from now on. Its error, if any, is that of the disposal. */
export const startNeighbour = (server: SharedServer): AsyncDisposable & Counted => {
  const stopped = new AbortController();
  const { acts, during } = aNeighbour(server);
  const running = during(stopped.signal);
  // A failure must not end the test run before.
  running.catch(() => {});
  return {
    acts,
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await running;
    },
  };
};

/** With fewer of each, a test beside it would prove little. */
const ACTS_MIN = 5;

export const isBusy = ({ acts }: Counted): boolean => Object.values(acts).every((count) => count >= ACTS_MIN);

export const expectBusy = ({ acts }: Counted): void => {
  for (const [name, count] of Object.entries(acts)) expect(count, name).toBeGreaterThanOrEqual(ACTS_MIN);
};
