import { v7 } from 'uuid';
import type { EventId, Position } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import type { CommandContext } from '#shared/command-gateway/command-gateway.ts';
import { seededEventId } from '#shared/events/reservation.ts';
import type { Caller } from '#shared/policy.ts';

/** The context of a command: metadata, ids and preconditions. */
export type ExecutionContext = {
  readonly metadata: MetadataContext;
  readonly ids: CommandIds;
  /** The version that the caller has seen; the command applies to this version only. */
  readonly ifVersion: CommandContext['ifVersion'];
  readonly unlessVersion: CommandContext['unlessVersion'];
  /** The id of the signature that its person has given, if they have. */
  readonly signature?: string | undefined;
  /** Set if the command may have run before a crash: its events would be after this position. */
  readonly mayBeRepeatAfter: Position | undefined;
};

/** The sender of a command, with its context. */
export type Sent = {
  readonly caller: Caller;
  readonly execution: ExecutionContext;
  /** The person who approves it, and needs the rights to it beside the caller. */
  readonly approver?: Caller | undefined;
};

/** All who need the rights to a command. */
export const callersOf = ({ caller, approver }: Sent): readonly Caller[] =>
  approver === undefined ? [caller] : [caller, approver];

/** The ids that a command assigns. */
export type CommandIds = {
  /** The id of its event number `ordinal`, from 0; the same at every call. */
  event(ordinal: number): EventId;
  /** The id of the aggregate that it creates; each further attempt gets another. */
  aggregate(attempt: number): number;
};

/** Random ids, for a command that runs once. */
export const freshIds = (newId: () => number): CommandIds => {
  const events: EventId[] = [];
  return {
    event: (ordinal) => {
      events[ordinal] ??= v7() as EventId;
      return events[ordinal];
    },
    aggregate: newId,
  };
};

/**
 * Ids derived from a seed, so that a retry gets the same: a UUID for the events, and the id of the first
 * aggregate.
 */
export const seededIds = (
  { eventSeed, firstId }: { eventSeed: string; firstId: number },
  idStep = 1,
): CommandIds => ({
  event: (ordinal) => seededEventId(eventSeed, ordinal),
  aggregate: (attempt) => firstId + attempt * idStep,
});
