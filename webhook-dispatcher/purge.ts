import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/process/log.ts';
import { forgetDeleted, forgetErased, purgeMessages, purgeSome } from './ledger/purge.ts';

type Purger = { readonly pool: Pool; readonly keepDays: number; readonly log: Log };

const EVERY_MS = 600_000;
/** What is left of a deleted webhook, or an erased person, is not kept waiting. */
const DELETED_EVERY_MS = 5_000;
/** Between statements, so that what is sent does not wait. */
const REST_MS = 200;

/**
 * Forgets, now and then, what was settled long ago, and soon what belongs to deleted webhooks and tells of
 * erased people. Several processes may do so at once.
 */
export const startPurging = ({ pool, keepDays, log }: Purger): AsyncDisposable => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  const purge = async (
    everyMs: number,
    someOf: readonly ((pool: Pool) => Promise<boolean>)[],
  ): Promise<void> => {
    // Processes that were started together do not come together.
    await pause(everyMs * Math.random());
    while (!signal.aborted) {
      try {
        for (const some of someOf) while (!signal.aborted && (await some(pool))) await pause(REST_MS);
      } catch (err) {
        log.warn({ err }, 'Old deliveries to webhooks could not be forgotten; it is tried again.');
      }
      await pause(everyMs);
    }
  };
  const old = [
    (from: Pool) => purgeSome(from, keepDays),
    (from: Pool) => purgeMessages(from, keepDays),
    // Those, too, whom another process should have forgotten.
    (from: Pool) => forgetErased(from, 'all time'),
  ];
  const purging = Promise.all([
    purge(EVERY_MS, old),
    purge(DELETED_EVERY_MS, [forgetDeleted, (from) => forgetErased(from)]),
  ]);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await purging;
    },
  };
};
