import { setTimeout as delay } from 'node:timers/promises';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/process/log.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { migrateOperations } from './migrate.ts';
import {
  dropOldOrders,
  finishOrder,
  LostOrder,
  type OrderKind,
  type TakenOrder,
  takeOrder,
} from './orders.ts';

export type OrderTaker = {
  /** Of the lease: one process at a time carries these kinds out. */
  readonly name: string;
  readonly pool: Pool;
  readonly log: Log;
  readonly kinds: readonly OrderKind[];
  /**
   * Carries out an operator command and records the outcome. A refusal is recorded for it; after any other
   * failure the command starts over. It stops when the signal aborts, and another process starts over.
   */
  carryOut(order: TakenOrder, signal: AbortSignal): Promise<void>;
};

/** The maximum time before a command begins. */
const LOOK_EVERY_MS = 1_000;

/** Carries out operator commands, one after the other, in one process at a time. */
export const startCarryingOut = async (taker: OrderTaker): Promise<AsyncDisposable> => {
  const { name, pool, log, kinds } = taker;
  await migrateLeases(pool);
  await migrateOperations(pool);
  const stopping = new AbortController();
  const onFailure = (err: unknown) => log.error({ err }, 'An operator command failed, and starts over.');
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    await dropOldOrders(pool);
    while (!signal.aborted) {
      const order = await takeOrder(pool, kinds);
      if (order) await carryOutOne(taker, order, signal);
      else await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  };
  const running = runUnderLease({ pool, name, onFailure }, work, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

const carryOutOne = async (
  { pool, log, carryOut }: OrderTaker,
  order: TakenOrder,
  signal: AbortSignal,
): Promise<void> => {
  log.info({ order }, 'An operator command starts.');
  try {
    await carryOut(order, signal);
  } catch (error) {
    if (signal.aborted || error instanceof LostOrder) return;
    if (!(error instanceof StartRefused)) throw error;
    await finishOrder(pool, order, { state: 'failed', outcome: error.message });
  }
};
