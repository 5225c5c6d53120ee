/**
 * A decider holds the rules of one aggregate. Both functions are pure: time and ids arrive in the command.
 * A command that changes nothing decides `[]`, so that a retry is free; a refusal throws `Rejection`.
 */
export type Decider<State, Command, Event> = {
  readonly initial: State;
  /**
   * What the fold means: states of another definition are folded anew. Without one, no snapshots are kept.
   */
  readonly definition?: string;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: Event): State;
};

/** What it takes to fold a stream: a decider without its decisions. */
export type Folding<State, Event> = Pick<Decider<State, never, Event>, 'initial' | 'evolve' | 'definition'>;
