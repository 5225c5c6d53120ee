import type { EventId, Position } from '#kernel/base/brands.ts';
import { type RecordedEvent, type Seen, START } from './event-log.ts';
import type { Tail, TailPage } from './tail.ts';

const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 1_000;

export type TailFollower = {
  readonly tail: Tail;
  /**
   * Waits for an event after a position, for a notification after `notified`, for the timeout, or for the
   * signal.
   */
  wait(
    after: Position,
    notified: number,
    limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<void>;
  /** Throws `LogWentBack` if a page shows that the last seen event is gone. */
  demandSeen(seen: Seen, page: TailPage): void | Promise<void>;
  /** Throws a better error than the failed read did. */
  explain?(seen: Seen | undefined, error: unknown): Promise<never>;
};

type StartingPoint = {
  readonly after: Position;
  readonly id?: EventId | undefined;
  readonly signal: AbortSignal;
};

/**
 * Pages through the log from a position, waits at its end for notifications, and retries while the server is
 * unavailable.
 */
export async function* followTail(
  { tail, wait, demandSeen, explain }: TailFollower,
  { after, id, signal }: StartingPoint,
): AsyncGenerator<readonly RecordedEvent[]> {
  let last = after;
  let seen: Seen | undefined = id === undefined || after === START ? undefined : { position: after, id };
  let backoffMs = BACKOFF_FIRST_MS;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    // The first read of each follower goes to the log, not to the window.
    const looking = (isFirst ? tail.look(last, seen) : tail.after(last, seen)).catch((error: unknown) => {
      if (explain && !signal.aborted) return explain(seen, error);
      throw error;
    });
    const page = await unlessAborted(looking, signal);
    if (page === undefined) return;
    if (page.last > last || !page.isAway) backoffMs = BACKOFF_FIRST_MS;
    if (seen && (page.events.length > 0 || !page.isAway)) await demandSeen(seen, page);
    const newest = page.events.at(-1) ?? (seen === undefined ? page.at : undefined);
    if (newest) seen = { position: newest.position, id: newest.id };
    // Events read before a failure are complete and in order.
    last = page.last;
    if (page.events.length > 0) yield page.events;
    if (page.isAway) {
      await tail.clock.sleep(backoffMs, signal);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
    } else if (!page.isCut) {
      // Events stored since the read have sent a notification, or will.
      const timeoutMs = Math.max(1, page.lookedAtMs + tail.pollMs - tail.clock.elapsedMs());
      await wait(last, page.notified, { timeoutMs, signal });
    }
  }
}

/** Several followers may share a read: it continues if one of them aborts. */
const unlessAborted = async <Answer>(
  looking: Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | undefined> => {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const onAbort = () => resolve(undefined);
  signal.addEventListener('abort', onAbort);
  looking.catch(() => {});
  try {
    return await Promise.race([looking, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};
