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
