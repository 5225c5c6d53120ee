import type { DisabledReason } from '#shared/events/webhook.ts';
import type { Delivery } from './deliver/delivery.ts';

/** Nothing waits in a run that has ended, and none pauses or is to be disabled that still sends. */
export type RunState =
  /** It begins what is waiting, and looks for more where more may be due. */
  { readonly kind: 'sending'; readonly waiting: Delivery[]; mayBeMore: boolean } | Ending;

/** It begins nothing any more; what is under way goes on. */
export type Ending =
  /** Its webhook is not run again for so long. */
  | { readonly kind: 'ended'; readonly pauseMs: number }
  /** Its webhook is to be disabled. */
  | { readonly kind: 'disabling'; readonly reason: DisabledReason };

/** What is to be disabled stays so, and of several pauses the longest counts. */
export const endingOf = (state: RunState, pauseMs: number): Ending => {
  switch (state.kind) {
    case 'sending':
      return { kind: 'ended', pauseMs };
    case 'ended':
      return { kind: 'ended', pauseMs: Math.max(state.pauseMs, pauseMs) };
    case 'disabling':
      return state;
  }
};
