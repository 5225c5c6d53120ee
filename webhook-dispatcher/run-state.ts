import type { DisabledReason } from '#kernel/webhook/webhook-fields.ts';
import type { Delivery } from './deliver/delivery.ts';

/**
 * A run that has ended holds no waiting deliveries; one that still sends neither pauses nor is to be
 * disabled.
 */
export type RunState =
  /** The run starts waiting deliveries, and looks for more if there may be any. */
  { readonly kind: 'sending'; readonly waiting: Delivery[]; mayBeMore: boolean } | Ending;

/** A run that ends starts nothing more; deliveries in progress continue. */
export type Ending =
  /** Its webhook does not run again for this time. */
  | { readonly kind: 'ended'; readonly pauseMs: number }
  /** Its webhook is to be disabled. */
  | { readonly kind: 'disabling'; readonly reason: DisabledReason };

/** Disabling is final, and of several pauses the longest counts. */
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
