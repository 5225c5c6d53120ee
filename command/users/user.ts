import type { StreamName, UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { abandon, deciderOf, type KindDecider } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { toEvents } from '../handling/target.ts';

export const userStream = (id: UserId): StreamName => streamName('user', id);

const userKindOf = ({ name, kinds }: Domain): Kind => {
  if (kinds.user === undefined) throw new Error(`${name} has no users`);
  return kinds.user;
};

/** The rules of users, as declared by the domain, and the only fold of their streams. */
export const usersOf = (domain: Domain): KindDecider => deciderOf(domain, userKindOf(domain));

/** The fields of users that the kernel depends on. */
type Profile = {
  /** `null` after the key is destroyed: the erasure is in progress. */
  readonly name: string | null;
  readonly email: string | null;
  readonly role: Role;
  /** Of a domain with auditors. */
  readonly auditorUntil?: string | null;
};

/** Undefined if the user does not exist or was deleted. */
export const profileOf = (state: AggregateState): Profile | undefined =>
  // The kernel declares these fields with these types.
  state.status === 'present' ? (state.fields as Profile) : undefined;

/** Advances the stream of a user, so that an append announced for its present version fails. */
export const abandonEmail = (
  domain: Domain,
  userId: UserId,
  claim: string,
  state: AggregateState,
): readonly AnnalsEvent[] =>
  toEvents(abandon(userKindOf(domain), { fence: 'email_abandoned', id: userId, claim }, state));
