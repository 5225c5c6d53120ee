import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Origin } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { ShownSignature } from '#kernel/base/signature.ts';
import type { Facts } from '#kernel/conditions/facts.ts';

/**
 * Public events in the order of the log, never ahead of the read model: a subscriber can read the result of
 * every change it receives. A consumer that resumes after the last position it has handled misses nothing and
 * gets nothing twice.
 */
export type ChangeStream = AsyncDisposable & {
  /** Follows the changes after a position, without end, however long ago it was; returns once aborted. */
  follow(after: Position, signal: AbortSignal): AsyncIterable<ChangePage>;

  /** The position up to which changes are available now: `follow` from here yields only later ones. */
  head(): Promise<Position>;
};

/**
 * Consecutive changes. There are no others up to `upTo`, which is the position of the last one or a later
 * one; an event exists at that position.
 */
export type ChangePage = {
  readonly changes: readonly Change[];
  readonly upTo: Position;
  readonly event?: EventId | undefined;
};

/** A public event, without its personal fields, so that it may be stored anywhere. */
export type Change = {
  readonly position: Position;
  readonly id: EventId;
  readonly type: string;
  /** The version of the type, which determines the form of the data. */
  readonly schemaVersion: number;
  readonly stream: StreamName;
  /** Of the aggregate, after this event. */
  readonly version: Version;
  /** When it happened: RFC 3339. */
  readonly at: string;
  /** When an import recorded it, which claims its time and its author. */
  readonly importedAt?: string | undefined;
  /** Why, as the caller said. */
  readonly reason?: string | undefined;
  /** Of a command that a person has signed. */
  readonly signature?: ShownSignature | undefined;
  /** Null if the event is damaged, or was published by a release that did not state it. */
  readonly origin: Origin | null;
  readonly data: JsonObject;
  /** Visible to those with this right. */
  readonly right: Operation;
  /** The facts that the right depends on, at the time of the event. */
  readonly resource: Facts;
  /** The facts before the event, if they make it visible to somebody who may not read the new state. */
  readonly former?: Facts;
  /** Its aggregate is out of the read model, because of this event or an earlier one. */
  readonly isParked: boolean;
  /** The `traceparent` of its cause, if that trace is recorded. */
  readonly trace?: string | undefined;
};
