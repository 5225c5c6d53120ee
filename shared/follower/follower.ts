// Over 200 lines, because a follower is one loop: pages, transaction, checkpoint, lease.
import type { EventId, Position } from '#kernel/base/brands.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import type { Connection } from '#shared/database/pool.ts';
import { LogWentBack } from '#shared/event-log/errors.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import { migrateFollowers, readCheckpoint, takeCheckpoint } from './checkpoint.ts';
import { demandCheckpoint, demandEvent } from './demand-checkpoint.ts';
import { type Batch, followAhead } from './follow-ahead.ts';
import { type ObservedFollower, observeFollower } from './observe-follower.ts';
import { passOf, type Turn } from './pass.ts';

export type FollowerOptions<Ready = unknown> = ObservedFollower & {
  readonly log: Log;
  /**
   * Performs the effects of events elsewhere, before the checkpoint moves past them; may be called again for
   * the same events. It may stop when the signal aborts, and the checkpoint stays.
   */
  act?(events: readonly RecordedEvent[], signal: AbortSignal): Promise<void>;
  /** Prepares a page for `write` without a transaction, while the page before is still being written. */
  prepare?(events: readonly RecordedEvent[]): Promise<Ready>;
  /**
   * Writes the effects of events, on a connection whose transaction also moves the checkpoint: exactly once,
   * whatever happens. Other followers write in the transaction at the same time, and all that is sent in one
   * turn of the event loop takes one round trip: so it sends at once what it can. It may run in vain, and again,
   * if the transaction fails: what others notice of it belongs in `committed`.
   */
  write?(events: readonly RecordedEvent[], connection: Connection, ready: readonly Ready[]): Promise<void>;
  /**
   * Whether the follower has anything to do for these events. If not, neither `act` nor `write` is called,
   * and the checkpoint moves up to `MOVE_WITHIN_MS` later: an owner that takes over in between gets the
   * events again.
   */
  concerns?(events: readonly RecordedEvent[]): boolean;
  /** Called after each commit, with the new checkpoint: only a hint, because a process may die in between. */
  committed?(position: Position): void;
  /**
   * For followers that nobody waits for: the time in which events gather after a batch, because each batch
   * costs the same at any size. After a full page it continues at once.
   */
  readonly restMs?: number;
  /** Readers must never see a write that a crash then undoes, so commits wait for the disk. */
  readonly isLasting?: boolean;
};

/**
 * Follows the event log from the checkpoint, in one process at a time. Logs a failure, and starts over from
 * the checkpoint.
 */
export const startFollower = <Ready>(options: FollowerOptions<Ready>): Promise<AsyncDisposable> => {
  const { eventLog, act, prepare, write, concerns } = options;
  return startFollowing<Batch<Ready>>({
    ...options,
    async *follow(after, signal, event) {
      const following = { eventLog, signal, event };
      const batches = prepare
        ? followAhead({ ...following, prepare }, after)
        : followPages<Ready>(following, after);
      for await (const batch of batches) {
        const last = batch.events.at(-1);
        if (!last) return;
        yield {
          page: batch,
          upTo: last.position,
          event: last.id,
          isFull: batch.events.length >= FULL_EVENTS,
        };
      }
    },
    act: act && (({ events }, signal) => act(events, signal)),
    write: write && (({ events, ready }, connection) => write(events, connection, ready)),
    concerns: concerns && (({ events }) => concerns(events)),
  });
};

/** The source need not be the log itself, but its positions are those of the log. */
export type FollowingOptions<Page> = Pick<
  FollowerOptions,
  | 'name'
  | 'pool'
  | 'eventLog'
  | 'log'
  | 'metrics'
  | 'clock'
  | 'committed'
  | 'restMs'
  | 'isLasting'
  | 'isRequired'
> & {
  /**
   * Pages after a position, given the event at it if that is known; each with the position up to which it is
   * complete, and the event there.
   */
  follow(after: Position, signal: AbortSignal, event: EventId | undefined): AsyncIterable<Followed<Page>>;
  /** Recognizes errors that are no failure, and are reported elsewhere. */
  readonly isExpected?: (error: unknown) => boolean;
  readonly act?: ((page: Page, signal: AbortSignal) => Promise<void>) | undefined;
  readonly write?: ((page: Page, connection: Connection, span: Span) => Promise<void>) | undefined;
  readonly concerns?: ((page: Page, span: Span) => boolean) | undefined;
};

type Span = { readonly after: Position };

type Followed<Page> = {
  readonly page: Page;
  readonly upTo: Position;
  readonly event: EventId | undefined;
  /** Enough has gathered, or the follower lags. */
  readonly isFull?: boolean;
};

/** Half a page of the log. */
export const FULL_EVENTS = 500;

/** Like `startFollower`, for pages of any kind. */
export const startFollowing = async <Page>(options: FollowingOptions<Page>): Promise<AsyncDisposable> => {
  const { name, pool, eventLog, log } = options;
  await migrateLeases(pool);
  await migrateFollowers(pool);
  await demandCheckpoint(name, eventLog, await readCheckpoint(pool, name));
  const observer = observeFollower(options);
  const stopping = new AbortController();
  let isStopped = false;
  const onFailure = (err: unknown) => {
    if (options.isExpected?.(err)) return;
    observer.failed(err);
    // The guard of the history logs it once; nothing changes until the operator has decided.
    if (err instanceof LogWentBack && isStopped) return;
    isStopped = err instanceof LogWentBack;
    log.error(
      { err, follower: name },
      'A follower of the event log failed and restarts from its checkpoint.',
    );
  };
  const committed = (position: Position): void => {
    observer.moved();
    options.committed?.(position);
  };
  const running = runUnderLease(
    { pool, name, clock: options.clock, onFailure },
    (lease) => follow({ ...options, committed }, lease),
    stopping.signal,
  );
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

/**
 * The maximum lag of the checkpoint while there is nothing to do; a client that waits for the checkpoint
 * waits that much longer.
 */
export const MOVE_WITHIN_MS = 100;
/** For how long a page that nobody waits for waits for the transaction of another follower. */
const SHARE_WITHIN_MS = 20;

const follow = async <Page>(
  options: FollowingOptions<Page>,
  { epoch, signal }: { epoch: number; signal: AbortSignal },
): Promise<void> => {
  const { name, pool, eventLog, clock, act, write, concerns, restMs = 0, isLasting = false } = options;
  const taken = await takeCheckpoint(pool, name, epoch);
  if (taken) await demandEvent(eventLog, taken);
  let saved: Position = taken?.position ?? START;
  let isFirst = taken === undefined;
  let checkpoint: Reached = { position: saved, event: taken?.event ?? undefined };
  const turnTo = ({ position: to, event }: Reached): Turn => ({
    follower: name,
    isLasting,
    move: () => ({ log: eventLog.identity, from: saved, to, epoch, event }),
    committed() {
      saved = to;
      isFirst = false;
      options.committed?.(to);
    },
  });
  const pass = passOf(pool);
  const [key, leaving] = [{}, new AbortController()];
  const writeWithinMs = isLasting ? 0 : Math.min(restMs, SHARE_WITHIN_MS);
  let failed: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failed = { error };
    leaving.abort();
  };
  const following = AbortSignal.any([signal, leaving.signal]);
  try {
    for await (const followed of options.follow(checkpoint.position, following, checkpoint.event)) {
      if (following.aborted) break;
      const { page, upTo, event, isFull = false } = followed;
      const after = checkpoint.position;
      if (concerns?.(page, { after }) ?? true) {
        await act?.(page, signal);
        if (following.aborted) break;
        checkpoint = { position: upTo, event };
        const written = write && { write: (to: Connection) => write(page, to, { after }) };
        await pass.write(
          key,
          { ...turnTo(checkpoint), ...written, isAlone: isFull || isFirst },
          writeWithinMs,
        );
      } else {
        checkpoint = { position: upTo, event };
        pass.write(key, turnTo(checkpoint), MOVE_WITHIN_MS).catch(fail);
      }
      if (restMs > 0 && !isFull) await clock.sleep(restMs, following);
    }
  } finally {
    leaving.abort();
    await pass.leave(key);
  }
  if (failed && !signal.aborted) throw failed.error;
};

type Reached = { readonly position: Position; readonly event: EventId | undefined };

type Following = {
  readonly eventLog: EventLog;
  readonly signal: AbortSignal;
  readonly event: EventId | undefined;
};

async function* followPages<Ready>(
  { eventLog, signal, event }: Following,
  after: Position,
): AsyncGenerator<Batch<Ready>> {
  for await (const events of eventLog.follow(after, signal, event)) yield { events, ready: [] };
}
