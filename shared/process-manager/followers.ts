import type { Membership } from '#kernel/decide/memberships.ts';

/** The follower that ends children with their parents. */
export const PROCESS_MANAGER = 'process-manager';

/** The follower that notes references, and what follows from events. */
export const REACTIONS = 'reactions';

/** Identifies the meaning of a membership: children are known from the event on after which it was declared. */
export const membershipText = ({ kind, parentKind, parentEnd, parentKey, joins, end }: Membership): string =>
  [kind, parentKind, parentEnd, parentKey, [...joins].toSorted().join(','), end].join(' ');
