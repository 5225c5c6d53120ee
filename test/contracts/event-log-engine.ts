import { randomUUID } from 'node:crypto';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { EventLog, NewEvent, RecordedEvent } from '#shared/event-log/event-log.ts';
import { startDeadline } from '../../testing/load.ts';

/**
 * The fixtures that the contract suite needs of an engine: an empty log of its own, opened once per process.
 */
export type LogEngine = AsyncDisposable & {
  open(): Promise<EventLog>;
  /** Stops the server hard and restarts it with everything acknowledged. */
  restart(): Promise<void>;
  /** Disturbances around writes and followers, each to be survived. */
  readonly disturbances: readonly Disturbance[];
  /**
   * Counts from now on how often followers read the server for events after a position, in all logs opened by
   * this process.
   */
  countLooks(): Disposable & { count(): number };
};

export type Disturbance = {
  readonly name: string;
  /** Runs until aborted, and returns the ids of the events that it appended itself. */
  during(signal: AbortSignal): Promise<readonly string[]>;
};

export const aStream = (kind = 'thing'): StreamName => `${kind}-${randomUUID()}` as StreamName;

export const anEvent = (data: JsonObject = { n: 1 }, type = 'thing.noted'): NewEvent => ({
  id: randomUUID() as EventId,
  type,
  data,
  metadata: { version: 1, actor: 'user:1' },
});

export const version = (value: number): Version => value as Version;

export const readAll = async (
  log: EventLog,
  stream: StreamName,
  from?: Version,
): Promise<readonly RecordedEvent[]> => (await Array.fromAsync(log.read(stream, from))).flat();

/** Follows in the background and records the events, until it is disposed. */
export const startFollowing = (log: EventLog, after: RecordedEvent['position']) => {
  const seen: RecordedEvent[] = [];
  const stopped = new AbortController();
  const running = (async () => {
    for await (const events of log.follow(after, stopped.signal)) seen.push(...events);
  })();
  // A failure is reported where the follower is awaited; it must not end the test run before.
  running.catch(() => {});
  return {
    seen,
    async until(
      done: (seen: readonly RecordedEvent[]) => boolean,
      deadlineMs = 20_000,
    ): Promise<readonly RecordedEvent[]> {
      const deadline = startDeadline(deadlineMs);
      while (!done(seen)) {
        await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 5))]);
        if (deadline.isOver())
          throw new Error(
            `after ${deadline} the follower had seen ${seen.length} events, and not what was waited for`,
          );
      }
      return seen;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stopped.abort();
      await running;
    },
  };
};
