import type { Position } from '#shared/brands.ts';
import type { Change } from './change-stream.ts';

/** A change on its way to those who follow by another way than the log. */
export type ChangeToPublish = {
  readonly change: Change;
  /**
   * There is no change between this and the other one: whoever has seen up to here misses nothing before it.
   */
  readonly previous: Position;
  readonly correlation: string;
};

/** Where changes are published, by one publisher at a time and in the order of the log. */
export type Publication = AsyncDisposable & {
  /**
   * Publishes them in their order, and returns once they are kept there. What stands in the way is waited
   * for; only the signal ends that. They may then be there once, more than once, or in part.
   */
  publish(changes: readonly ChangeToPublish[], signal: AbortSignal): Promise<void>;
};
