import type { EventId, Position, Version } from '#kernel/base/brands.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';

/**
 * A decider contains the rules of one aggregate. Both functions are pure: time and ids are part of the
 * command. A command that changes nothing decides `[]`, so that a retry is harmless; a refusal throws
 * `Rejection`.
 */
export type Decider<State, Command, Event> = {
  readonly initial: State;
  /**
   * Identifies the meaning of the fold: states with another definition are folded again. Without one, there
   * are no snapshots.
   */
  readonly definition?: string;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: Event): State;
};

/** The part of a decider that folds a stream. */
export type Folding<State, Event> = Pick<Decider<State, never, Event>, 'initial' | 'evolve' | 'definition'>;

/** The state of a stream with its last event; a stream without events has none. */
export type Known<State> = {
  readonly state: State;
  readonly version: Version;
  readonly position: Position;
  readonly event: EventId | undefined;
};

/** The state of a stream without events. */
export const unwritten = <State>(initial: State): Known<State> => ({
  state: initial,
  version: NO_STREAM,
  position: START,
  event: undefined,
});
