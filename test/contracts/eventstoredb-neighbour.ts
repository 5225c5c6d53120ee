import { setTimeout as delay } from 'node:timers/promises';
import { ANY, binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { randomOf } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import type { Disturbance } from './event-log-engine.ts';

const PAUSE_MS = 5;
const STREAMS = 12;
const EVENTS_MAX = 40;
const SCAVENGE_PERCENT = 10;

/**
 * With credentials, the client makes a call of each append. Its other call throws outside of every promise when
 * the server answers twice.
 */
const ONE_CALL_EACH = { credentials: { username: 'neighbour', password: 'unchecked' } };

/**
 * Another application on the server, at random: events of all shapes, also in streams named like ours, links of
 * projections, retention, deletions, tombstones and scavenges.
 */
export const aNeighbour = (standIn: EventStoreStandIn): Disturbance => ({
  name: `a neighbour on the server, of TEST_SEED ${SEED}`,
  async during(signal) {
    const client = EventStoreDBClient.connectionString(standIn.address);
    const random = randomOf(SEED);
    for (let round = 0; !signal.aborted; round += 1) {
      const kind = random.pick(['thing', 'article', 'annals', 'annalsx.thing', 'order']);
      const stream = `${kind}-${random.below(STREAMS)}-${Math.floor(round / STREAMS)}`;
      const events = [eventOf(random), ...random.some(EVENTS_MAX, () => eventOf(random))];
      const acts: readonly (() => Promise<unknown>)[] = [
        () => client.appendToStream(stream, events, ONE_CALL_EACH),
        () => client.appendToStream(stream, events, ONE_CALL_EACH),
        () => client.appendToStream(`$ce-${kind}`, linkTo(`${random.below(9)}@${stream}`), ONE_CALL_EACH),
        () =>
          client.setStreamMetadata(
            stream,
            random.pick([{ maxAge: 0 }, { maxCount: 1 }, { truncateBefore: 2 }]),
          ),
        () => client.deleteStream(stream, { expectedRevision: ANY }),
        () => client.tombstoneStream(stream, { expectedRevision: ANY }),
      ];
      // A stream may be missing or deleted, and the server may restart.
      await random
        .pick(acts)()
        .catch(() => {});
      if (random.chance(SCAVENGE_PERCENT)) standIn.scavenge();
      await delay(PAUSE_MS);
    }
    await client.dispose();
    return [];
  },
});

const eventOf = (random: ReturnType<typeof randomOf>) =>
  random.pick([
    () => jsonEvent({ type: 'theirs', data: { n: random.below(9) } }),
    () => jsonEvent({ type: 'theirs', data: [1, 'two'] }),
    () => jsonEvent({ type: 'thing.noted', data: { n: 1 }, metadata: { version: 1, actor: 'user:1' } }),
    () => binaryEvent({ type: 'theirs', data: Buffer.from(random.text()) }),
    () => jsonEvent({ type: 'theirs', data: null as never }),
  ])();

const linkTo = (target: string) => binaryEvent({ type: '$>', data: Buffer.from(target) });

/** The same from now on. */
export const startNeighbour = (standIn: EventStoreStandIn): AsyncDisposable => {
  const stopped = new AbortController();
  const running = aNeighbour(standIn).during(stopped.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await running;
    },
  };
};
