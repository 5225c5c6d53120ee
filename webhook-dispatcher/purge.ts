import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { pulseOf } from '#shared/database/pulse.ts';
import type { Log } from '#shared/log.ts';
import { ARE_TO_FORGET, forgetDeleted, forgetErased, purgeMessages, purgeSome } from './ledger/purge.ts';

type Purger = { readonly pool: Pool; readonly keepDays: number; readonly log: Log; readonly clock: Clock };

const EVERY_MS = 600_000;
/** Data of deleted webhooks and erased people is removed soon, and again while more may come. */
export const DELETED_EVERY_MS = 5_000;
/** A pause between statements, so that deliveries are not delayed. */
const REST_MS = 200;

/**
 * Periodically deletes what was settled long ago, and soon the data of deleted webhooks and erased people.
 * Several processes may run it concurrently.
 */
export const startPurging = ({ pool, keepDays, log, clock }: Purger): AsyncDisposable => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => clock.sleep(ms, signal);
  const purge = async (
    everyMs: number,
    someOf: readonly ((pool: Pool) => Promise<boolean>)[],
    wait = async () => {},
  ): Promise<void> => {
    // Processes that were started together are spread.
    await pause(everyMs * Math.random());
    while (!signal.aborted) {
      await wait();
      try {
        for (const some of someOf) while (!signal.aborted && (await some(pool))) await pause(REST_MS);
      } catch (err) {
        log.warn({ err }, 'Old deliveries to webhooks could not be deleted; this is retried.');
      }
      await pause(everyMs);
    }
  };
  const old = [
    (from: Pool) => purgeSome(from, keepDays),
    (from: Pool) => purgeMessages(from, keepDays),
    // Includes erasures that another process should have handled.
    (from: Pool) => forgetErased(from, 'all time'),
  ];
  const purging = Promise.all([
    purge(EVERY_MS, old),
    purge(
      DELETED_EVERY_MS,
      [forgetDeleted, (from) => forgetErased(from)],
      async () =>
        void (await pulseOf(pool).wait({ until: ARE_TO_FORGET, clock, timeoutMs: EVERY_MS, signal })),
    ),
  ]);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await purging;
    },
  };
};
