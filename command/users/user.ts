import { abandon, deciderOf, type KindDecider } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { StreamName, UserId } from '#shared/brands.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Role } from '#shared/events/fields.ts';
import { streamName } from '#shared/events/streams.ts';
import { toEvents } from '../aggregates/target.ts';

export const userStream = (id: UserId): StreamName => streamName('user', id);

const userKindOf = ({ name, kinds }: Domain): Kind => {
  if (kinds.user === undefined) throw new Error(`${name} has no users`);
  return kinds.user;
};

/** The rules of users, as the domain declares them: the one fold of their streams. */
export const usersOf = (domain: Domain): KindDecider => deciderOf(domain, userKindOf(domain));

/** What the kernel itself asks of a user, whatever the domain adds. */
export type Profile = {
  /** `null` once the key was destroyed: the erasure is on its way. */
  readonly name: string | null;
  readonly email: string | null;
  readonly role: Role;
};

/** Nothing if nobody is there, or not any more. */
export const profileOf = (state: AggregateState): Profile | undefined =>
  // Every user has these, of these types: the kernel declares them.
  state.status === 'present' ? (state.fields as Profile) : undefined;

/**
 * Moves the stream of a user on, so that no append that was announced for the version of now can come any
 * more.
 */
export const abandonEmail = (
  domain: Domain,
  userId: UserId,
  claim: string,
  state: AggregateState,
): readonly AnnalsEvent[] =>
  toEvents(abandon(userKindOf(domain), { fence: 'email_abandoned', id: userId, claim }, state));
