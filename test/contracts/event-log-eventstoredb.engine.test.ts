// Takes minutes, so it starts first.

import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openMacs } from '../engines/authentic-log.ts';
import { createDatabase } from '../engines/database.ts';
import { SERVER_VERSIONS, type ServerVersion } from '../engines/eventstoredb/product.ts';
import { startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { describeEventLog } from './event-log-contract.ts';
import type { LogEngine } from './event-log-engine.ts';
import { countLooks, disturbancesOn, noiseOfTheSystem } from './event-log-eventstoredb-disturbances.ts';

/** As in production, but with a shorter wait for a lost answer. */
const TIMING = { retryBudgetMs: 10_000, answerWithinMs: 250, silenceMaxMs: 500 };

const startStandIn = (version: ServerVersion) => async (): Promise<LogEngine> => {
  await using opening = new AsyncDisposableStack();
  const standIn = opening.use(await startEventStoreStandIn({ version }));
  const authentic = opening.use(await openMacs(opening.use(await createDatabase()).url));
  const resources = opening.move();
  return {
    open: () => openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address, timing: TIMING, authentic }),
    restart: () => standIn.restart(),
    // The faults are the same in every version, and each takes seconds.
    disturbances: version === '26.0.3' ? disturbancesOn(standIn) : [noiseOfTheSystem(standIn.address)],
    countLooks,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

for (const version of SERVER_VERSIONS)
  describeEventLog(`EventStoreDB, by its stand-in as ${version}`, startStandIn(version));

/** A server that is not ours is neither restarted nor disturbed. */
const startReal = (url: string) => async (): Promise<LogEngine> => ({
  open: () => openEventStoreEventLog({ clock: REAL_TIME, url }),
  restart: async () => console.warn('Not done: the server at EVENTSTORE_URL is not ours to restart.'),
  disturbances: [noiseOfTheSystem(url)],
  countLooks,
  [Symbol.asyncDispose]: async () => {},
});

const real = process.env.EVENTSTORE_URL;
if (real) describeEventLog('EventStoreDB at EVENTSTORE_URL', startReal(real));
else console.warn('Skipped: EVENTSTORE_URL is not set, so the contract runs against the stand-in alone.');
