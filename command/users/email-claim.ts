import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import { claimDecider } from '../claims/claim.ts';

/** E-mail addresses have claim streams and events of their own, each named by a keyed hash of the address. */
export const emailStream = (addressHash: string): StreamName => streamName('email', addressHash);

export type EmailClaimEvent = EventOf<'email.claimed' | 'email.released'>;

export const emailClaim = claimDecider<EmailClaimEvent>({
  claimed: ({ id, version, at }) => ({
    type: 'email.claimed',
    data: { userId: id as UserId, userVersion: version, at },
  }),
  released: (id) => ({ type: 'email.released', data: { userId: id as UserId } }),
  read(event) {
    switch (event.type) {
      case 'email.claimed': {
        const { userId: id, userVersion: version, at } = event.data;
        return { id, holder: { version, at } };
      }
      case 'email.released':
        return { id: event.data.userId };
    }
  },
});
