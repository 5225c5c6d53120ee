import { expect } from 'vitest';
import { Rejection, type RejectionCode } from '#kernel/base/rejection.ts';
import type { Decider } from '../command/decider.ts';

/**
 * States a test of a decider as a sentence: `given(article, [drafted]).when(publish).yields([published])`.
 */
export const given = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  history: readonly Event[],
) => ({
  when(command: Command) {
    const decide = () => decider.decide(command, fold(decider, history));
    return {
      yields: (events: readonly Event[]): void => expect(decide()).toEqual(events),
      changesNothing: (): void => expect(decide()).toEqual([]),
      refuses: (code: RejectionCode): void => expect(refusalOf(decide)).toBe(code),
    };
  },
  is: (state: State): void => expect(fold(decider, history)).toEqual(state),
});

export const fold = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  events: readonly Event[],
): State => events.reduce((state: State, event) => decider.evolve(state, event), decider.initial);

/** The code of the expected refusal, or the actual result. Any other error passes through. */
const refusalOf = (decide: () => unknown): unknown => {
  try {
    return { decided: decide() };
  } catch (error) {
    if (error instanceof Rejection) return error.code;
    throw error;
  }
};
