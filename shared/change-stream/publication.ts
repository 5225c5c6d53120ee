import type { Position } from '#kernel/base/brands.ts';
import type { Change } from './change-stream.ts';

/** A change for subscribers that do not follow the log. */
export type ChangeToPublish = {
  readonly change: Change;
  /**
   * There is no change between the two: a subscriber that has seen everything up to here misses nothing
   * before this change.
   */
  readonly previous: Position;
  readonly correlation: string;
};

/** The destination of changes, with one publisher at a time, in the order of the log. */
export type Publication = AsyncDisposable & {
  /**
   * Publishes them in order, and returns once they are stored there. Waits for obstacles; only the signal
   * ends that. They may then be stored once, several times, or in part.
   */
  publish(changes: readonly ChangeToPublish[], signal: AbortSignal): Promise<void>;
};
