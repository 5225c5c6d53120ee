/**
 * A decider holds the rules of one aggregate. Both functions are pure: time and ids arrive in the command.
 * A command that changes nothing decides `[]`, so that a retry is free; a refusal throws `Rejection`.
 */
export type Decider<State, Command, Event> = {
  readonly initial: State;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: Event): State;
};
