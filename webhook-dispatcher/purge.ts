import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { purgeMessages, purgeSome } from './ledger/purge.ts';

type Purger = { readonly pool: Pool; readonly keepDays: number; readonly log: Log };

const EVERY_MS = 600_000;
/** Between statements, so that what is sent does not wait. */
const REST_MS = 200;

/** Forgets, now and then, what was settled long ago. Several processes may do so at once. */
export const startPurging = ({ pool, keepDays, log }: Purger): AsyncDisposable => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  const purge = async (): Promise<void> => {
    // Processes that were started together do not come together.
    await pause(EVERY_MS * Math.random());
    while (!signal.aborted) {
      try {
        while (!signal.aborted && (await purgeSome(pool, keepDays))) await pause(REST_MS);
        while (!signal.aborted && (await purgeMessages(pool, keepDays))) await pause(REST_MS);
      } catch (err) {
        log.warn({ err }, 'Old deliveries to webhooks could not be forgotten; it is tried again.');
      }
      await pause(EVERY_MS);
    }
  };
  const purging = purge();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await purging;
    },
  };
};
