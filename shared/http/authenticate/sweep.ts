import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';

const EVERY_MS = 30_000;
const ROWS_MAX = 5_000;
const ROUNDS_MAX = 40;

/** Removes what has expired, a bounded number of rows at a time; processes that do so at once pass over each other's rows. */
export const startSweeping = ({ pool, log, everyMs = EVERY_MS }: { pool: Pool; log: Log; everyMs?: number }): AsyncDisposable => {
  const stopping = new AbortController();
  const sweeping = sweepUntil(pool, { log, everyMs, signal: stopping.signal });
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await sweeping;
    },
  };
};

const sweepUntil = async (pool: Pool, { log, everyMs, signal }: { log: Log; everyMs: number; signal: AbortSignal }): Promise<void> => {
  while (!signal.aborted) {
    await delay(everyMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await sweep(pool, signal).catch((err: unknown) => log.warn({ err }, 'Expired revocations and proofs could not be removed.'));
  }
};

const sweep = async (pool: Pool, signal: AbortSignal): Promise<void> => {
  for (const remove of [removeProofs, removeRevocations]) {
    for (let round = 0; round < ROUNDS_MAX && !signal.aborted; round += 1) {
      if ((await remove(pool)) < ROWS_MAX) break;
    }
  }
};

const removeProofs = async (pool: Pool): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from auth.spent_proof where digest in
       (select digest from auth.spent_proof where expires_at < now() limit $1 for update skip locked)`,
    [ROWS_MAX],
  );
  return rowCount ?? 0;
};

const removeRevocations = async (pool: Pool): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from auth.revoked where (kind, value) in
       (select kind, value from auth.revoked where expires_at < now() limit $1 for update skip locked)`,
    [ROWS_MAX],
  );
  return rowCount ?? 0;
};
