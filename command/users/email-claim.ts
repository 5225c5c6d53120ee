import type { StreamName, UserId, Version } from '#shared/brands.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import { streamName } from '#shared/events/streams.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Decider } from '../decider.ts';

/**
 * One stream per e-mail address, named by a keyed hash, makes addresses unique without a lock:
 *
 * 1. An address is claimed before it is used, naming the version that the claiming append will expect of the user's stream.
 * 2. The registration or update is then appended with exactly that expected version.
 * 3. A claim is released when the user's stream is past that version and the user does not have the address.
 *    While the stream still is at that version the append may be on its way: `AbandonEmail` on the user's stream
 *    moves it on first. So a crash between the steps leaves nothing worse than a claim to be released.
 */
export const emailStream = (addressHash: string): StreamName => streamName('email', addressHash);

/** Names one claim of an address for `AbandonEmail`; a later claim by the same user has another version, thus another name. */
export const claimName = (stream: StreamName, userVersion: Version): string => `${stream}@${userVersion}`;

export type EmailClaimEvent = EventOf<'email.claimed' | 'email.released'>;

export type EmailClaimState =
  | { readonly status: 'free' }
  | { readonly status: 'claimed'; readonly userId: UserId; readonly userVersion: Version; readonly at: string };

export type EmailClaimCommand =
  /** `userVersion` is what the claiming append will expect of the user's stream: 0 for a registration. */
  | { readonly type: 'ClaimEmail'; readonly userId: UserId; readonly userVersion: Version; readonly at: string }
  /** `userVersion` is a version of the user's stream at which the user was seen not to have the address. */
  | { readonly type: 'ReleaseEmail'; readonly userId: UserId; readonly userVersion: Version };

export const emailClaim: Decider<EmailClaimState, EmailClaimCommand, EmailClaimEvent> = {
  initial: { status: 'free' },

  decide(command, state) {
    const { userId, userVersion } = command;
    switch (command.type) {
      case 'ClaimEmail':
        if (state.status === 'claimed' && state.userId !== userId) throw new Rejection('email_taken');
        // A retry after the user's stream has moved on claims anew, so that the release of the older claim spares it.
        if (state.status === 'claimed' && state.userVersion >= userVersion) return [];
        return [{ type: 'email.claimed', data: { userId, userVersion, at: command.at } }];
      case 'ReleaseEmail':
        if (state.status === 'free' || state.userId !== userId) return [];
        // A claim made at the version seen, or later, may still be used.
        if (state.userVersion >= userVersion) return [];
        return [{ type: 'email.released', data: { userId } }];
    }
  },

  evolve(_, event) {
    switch (event.type) {
      case 'email.claimed':
        return { status: 'claimed', ...event.data };
      case 'email.released':
        return { status: 'free' };
    }
  },
};
