import type { Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import type { Notifier } from '#shared/notifier.ts';
import type { ReadModelNotifier } from './read-model.ts';

/** The position of the read model, for readers that wait for their writes. */
export type ReadPosition = AsyncDisposable & {
  /** The position at the last query or notification. */
  readonly reached: Position;

  /**
   * Resolves with true as soon as the read model has applied everything up to a position; with false after
   * the timeout, on the signal, or if too many wait already.
   */
  reaches(position: Position, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
};

export type ReadPositionOptions = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity'>;
  /** Notified by the projector’s commits; during silence, the position is polled. */
  readonly notifier: Notifier & Partial<Pick<ReadModelNotifier, 'announcedPosition'>>;
  readonly waitersMax?: number;
  readonly clock: Clock;
};

/** Notifications may be lost; readers then wait this much longer. */
const POLL_MS = 200;
/** The maximum of waiting readers in one process. */
const WAITERS_MAX = 10_000;
/** A silent connection must not delay all waiting readers for longer than this. */
const ANSWER_WITHIN_MS = 1_000;

type Waiter = { readonly position: Position; readonly settle: (isReached: boolean) => void };

/**
 * One loop reads the position for all waiting requests of this process: when the first begins to wait, and
 * after each notification without a position. Without waiting requests there are no queries.
 */
export const openReadPosition = ({
  pool,
  eventLog,
  notifier,
  waitersMax = WAITERS_MAX,
  clock,
}: ReadPositionOptions): ReadPosition => {
  const waiters = new Set<Waiter>();
  const closed = new AbortController();
  let isLooking = false;
  /**
   * The checkpoint never moves back, not even by a crash of the server (`isLasting`), so a reached position
   * stays reached.
   */
  let reached = START;
  /**
   * The number of notifications before a silence that was too long: until the next one, the position in the
   * last may be old.
   */
  let silentAfter: number | undefined;

  const advance = (found: Position | undefined = START): Position => {
    if (found > reached) reached = found;
    return reached;
  };

  const look = async (): Promise<void> => {
    isLooking = true;
    while (waiters.size > 0) {
      const { notified } = notifier;
      const announced =
        notified === silentAfter ? undefined : notifier.announcedPosition?.(eventLog.identity);
      // If the database does not respond, the query is retried, and waiting readers time out by themselves.
      advance(announced ?? (await readReached(pool, eventLog).catch(() => undefined)));
      for (const { position, settle } of [...waiters]) if (position <= reached) settle(true);
      if (waiters.size === 0) break;
      await notifier.wait(notified, POLL_MS, closed.signal);
      if (notifier.notified === notified) silentAfter = notified;
    }
    isLooking = false;
  };

  return {
    get reached() {
      return advance(notifier.announcedPosition?.(eventLog.identity));
    },
    async reaches(position, timeoutMs, signal) {
      if (position <= advance(notifier.announcedPosition?.(eventLog.identity))) return true;
      if (waiters.size >= waitersMax || closed.signal.aborted || signal?.aborted) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const settle = (isReached: boolean) => {
        waiters.delete(waiter);
        resolve(isReached);
      };
      const waiter: Waiter = { position, settle };
      const giveUp = () => settle(false);
      const timer = clock.after(timeoutMs, giveUp);
      signal?.addEventListener('abort', giveUp);
      waiters.add(waiter);
      if (!isLooking) void look();
      const isReached = await promise;
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', giveUp);
      return isReached;
    },
    async [Symbol.asyncDispose]() {
      closed.abort();
      for (const { settle } of [...waiters]) settle(false);
    },
  };
};

const READ_REACHED = {
  name: 'read-position',
  text: 'select position from public.follower_checkpoint where follower = $1 and log = $2',
  query_timeout: ANSWER_WITHIN_MS,
};

/** Undefined if the projector has not begun, or follows another log. */
export const readReached = async (
  pool: Pool,
  { identity }: Pick<EventLog, 'identity'>,
): Promise<Position | undefined> => {
  try {
    const { rows } = await pool.query<{ position: Position }>({
      ...READ_REACHED,
      values: [PROJECTOR, identity],
    });
    return rows[0]?.position;
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
};
