import type { Membership } from '#kernel/decide/memberships.ts';

/** Identifies the meaning of a membership: children are known from the event on after which it was declared. */
export const membershipText = ({ kind, parentKind, parentEnd, parentKey, joins, end }: Membership): string =>
  [kind, parentKind, parentEnd, parentKey, [...joins].toSorted().join(','), end].join(' ');
