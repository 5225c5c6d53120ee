// Takes minutes, so it starts first.
import { expect } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { scaled } from '../../testing/load.ts';
import { SERVER_VERSIONS } from '../engines/eventstoredb/product.ts';
import { startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { describeEventLog } from './event-log-contract.ts';
import { countLooks } from './event-log-eventstoredb-disturbances.ts';
import { aNeighbour, expectBusy, startNeighbour } from './eventstoredb-neighbour.ts';

/** As in production, but with a shorter wait for a lost answer. */
const TIMING = { retryBudgetMs: scaled(10_000), answerWithinMs: 1_000, silenceMaxMs: 1_000 };

for (const version of SERVER_VERSIONS)
  describeEventLog(`EventStoreDB ${version} with a neighbour on the server`, async () => {
    await using starting = new AsyncDisposableStack();
    const standIn = starting.use(await startEventStoreStandIn({ version }));
    const always = starting.use(startNeighbour(standIn));
    const disturbing = aNeighbour(standIn);
    const resources = starting.move();
    return {
      open: () => openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address, timing: TIMING }),
      restart: () => standIn.restart(),
      disturbances: [disturbing],
      countLooks,
      async [Symbol.asyncDispose]() {
        await resources.disposeAsync();
        expectBusy(always);
        expect(disturbing.acts.appends).toBeGreaterThan(0);
      },
    };
  });
