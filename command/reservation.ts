import type { StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { Decider } from './decider.ts';

/**
 * One stream per client and idempotency key, named by a keyed digest of both. It is written before anything
 * else of a request, and contains the seed of every id of the request, so that a retry after a crash uses the
 * same ids.
 */
export const commandStream = (keyDigest: string): StreamName => streamName('command', keyDigest);

/** The time for which a key belongs to its first request. */
export const RESERVATION_MS = 24 * 60 * 60 * 1000;

export type ReservationEvent = EventOf<'command.reserved' | 'command.completed'>;

export type ReservationState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'reserved';
      readonly digest: string;
      readonly seed: string;
      readonly at: string;
      readonly by: string;
    }
  | {
      readonly status: 'completed';
      readonly digest: string;
      readonly outcome: JsonObject;
      readonly at: string;
    };

export type ReservationCommand =
  /** `digest` is that of the request’s content; `by` is the process that executes it. */
  | {
      readonly type: 'Reserve';
      readonly digest: string;
      readonly seed: string;
      readonly at: string;
      readonly by: string;
      /** The key never belongs to another request: a service may deliver its message days later. */
      readonly isLasting?: boolean;
    }
  | {
      readonly type: 'Complete';
      readonly digest: string;
      readonly seed: string;
      readonly outcome: JsonObject;
      readonly at: string;
    };

export const reservation: Decider<ReservationState, ReservationCommand, ReservationEvent> = {
  initial: { status: 'absent' },

  decide(command, state) {
    switch (command.type) {
      case 'Reserve': {
        const { digest, seed, at, by, isLasting = false } = command;
        if (state.status === 'absent' || isRefused(state) || (!isLasting && isOver(state.at, at)))
          return [{ type: 'command.reserved', data: { digest, seed, at, by } }];
        if (state.digest !== digest) throw new Rejection('idempotency_key_reused');
        return [];
      }
      case 'Complete': {
        const { digest, seed, outcome, at } = command;
        // A request that outlasts its reservation has lost it, perhaps to another request.
        if (state.status !== 'reserved' || state.digest !== digest || state.seed !== seed) return [];
        return [{ type: 'command.completed', data: { digest, outcome, at } }];
      }
    }
  },

  evolve(_, event) {
    switch (event.type) {
      case 'command.reserved':
        return { status: 'reserved', ...event.data };
      case 'command.completed':
        return { status: 'completed', ...event.data };
    }
  },
};

/** A refused request has changed nothing. Its key is free, also for a corrected request. */
const isRefused = (state: ReservationState): boolean =>
  state.status === 'completed' && state.outcome.refused !== undefined;

const isOver = (since: string, now: string): boolean => Date.parse(now) - Date.parse(since) >= RESERVATION_MS;
