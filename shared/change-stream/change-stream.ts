import type { Facts } from '#kernel/conditions/facts.ts';
import type { EventId, Position, StreamName, Version } from '#shared/brands.ts';
import type { Origin } from '#shared/events/metadata.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Operation } from '#shared/policy.ts';

/**
 * Public events in the order of the log, never ahead of the read model: whoever hears of a change can read
 * what it made. A consumer that goes on after the last position it has handled misses nothing and hears
 * nothing twice.
 */
export type ChangeStream = AsyncDisposable & {
  /** Follows the changes after a position, without end, however long ago it was; returns once aborted. */
  follow(after: Position, signal: AbortSignal): AsyncIterable<ChangePage>;

  /**
   * The position up to which changes can be heard now: `follow` from here yields only what comes from now on.
   */
  head(): Promise<Position>;
};

/**
 * Consecutive changes. There are no others up to a position, which is that of the last one or beyond it;
 * `event` is there.
 */
export type ChangePage = {
  readonly changes: readonly Change[];
  readonly upTo: Position;
  readonly event?: EventId | undefined;
};

/** A public event, without its personal fields, so that it may be kept anywhere. */
export type Change = {
  readonly position: Position;
  readonly id: EventId;
  readonly type: string;
  /** The version of the type, which says what shape the data has. */
  readonly schemaVersion: number;
  readonly stream: StreamName;
  /** Of the aggregate, once this had happened. */
  readonly version: Version;
  /** When it happened: RFC 3339. */
  readonly at: string;
  /** Nothing where the event is damaged, or was published by a release that did not tell it. */
  readonly origin: Origin | null;
  readonly data: JsonObject;
  /** Whoever is allowed to this may know of it. */
  readonly right: Operation;
  /** What that depends on, as things stood when it happened. */
  readonly resource: Facts;
  /** As it was before, if somebody may know of it who may not read what became of it. */
  readonly former?: Facts;
  /** Its aggregate is out of the read model, because of this event or an earlier one. */
  readonly isParked: boolean;
  /** The `traceparent` of what it follows from, if that trace is recorded. */
  readonly trace?: string | undefined;
};
