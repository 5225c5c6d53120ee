import { type Filters, refersTo } from '#kernel/registry/event-references.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { fitsPattern } from '#shared/events/event-patterns.ts';
import type { Policy } from '#shared/policy.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { type Owners, ownerOf } from './owners.ts';
import type { PlannedEndpoint } from './planned-endpoint.ts';

/** True if the webhook asked for such changes; whether its owner may see them is checked separately. */
export const wants = (filters: Filters, { eventTypes, filter }: PlannedEndpoint, change: Change): boolean =>
  eventTypes.some((pattern) => fitsPattern(pattern, change.type)) &&
  Object.entries(filter).every(([name, id]) => {
    const reference = filters.get(name);
    return reference !== undefined && refersTo(reference, id, change);
  });

/**
 * True if the owner, in the present role or any possible one, may see the change within the scopes that
 * decided the destination.
 */
export const isVisibleTo = (
  { owners, policy }: { readonly owners: Owners; readonly policy: Policy },
  { ownerId, scopes }: PlannedEndpoint,
  change: Change,
): boolean => {
  const standings = owners.get(ownerId) ?? [];
  return (
    standings === 'any' ||
    standings.some((standing) => maySee(ownerOf({ ownerId, scopes }, standing, policy), change))
  );
};
