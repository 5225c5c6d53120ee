import { v5, v7 } from 'uuid';
import type { EventId, Position } from '#shared/brands.ts';
import type { CommandContext } from '#shared/command-gateway/command-gateway.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import type { Caller } from '#shared/policy.ts';

/** What a command comes with, beyond its content. */
export type Circumstances = {
  readonly metadata: MetadataContext;
  readonly ids: CommandIds;
  /** The version that the caller has seen and wants changed, and no other. */
  readonly ifVersion: CommandContext['ifVersion'];
  readonly unlessVersion: CommandContext['unlessVersion'];
  /**
   * If the command may have been carried out already, before a crash: the position after which its events are
   * then.
   */
  readonly mayBeRepeatAfter: Position | undefined;
};

/** By whom a command was sent, and with what. */
export type Sent = { readonly caller: Caller; readonly circumstances: Circumstances };

/** The ids that a command gives to what it makes. */
export type CommandIds = {
  /** The id of its event number `ordinal`, from 0, the same at every call. */
  event(ordinal: number): EventId;
  /** The id of the aggregate that it creates; where that one is taken, the next attempt has another. */
  aggregate(attempt: number): number;
};

/** Ids for a command that is carried out once. */
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
 * Ids that come from a seed, so that a repetition makes the same ones: a UUID for the events, and the first
 * aggregate's id.
 */
export const seededIds = ({ eventSeed, firstId }: { eventSeed: string; firstId: number }): CommandIds => ({
  event: (ordinal) => v5(`event-${ordinal}`, eventSeed) as EventId,
  aggregate: (attempt) => firstId + attempt,
});
