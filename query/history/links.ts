import { operationOf } from '#kernel/conditions/rights.ts';
import { membershipsOf } from '#kernel/decide/memberships.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import { type Caller, may, mayByFacts } from '#shared/policy.ts';
import type { HistoryEntry } from '#shared/rest/history.ts';
import type { Described } from './describe.ts';

type Of = { readonly path: string; readonly caller: Caller };

/** To the item as an event left it, where that was for the caller to read, and to where the cause of the event stands. */
export const createLinks = (domain: Domain) => {
  const { types } = visibilityOf(domain);
  const causeOf = createCauseOf(domain);
  return ({ path, caller }: Of, { change, isReadable, data }: Described): HistoryEntry['_links'] => {
    const { version, type, at, origin, resource } = change;
    const told = types.get(type);
    const cause = origin?.causation ? causeOf(type, data) : undefined;
    const isThere = told === undefined ? !type.endsWith('.deleted') : told.event.effect !== 'ends';
    const mayRead =
      told === undefined ||
      (origin !== null && mayByFacts(caller, operationOf(told.of.kind, 'read'), told.factsAfter(resource, { data, at, origin })));
    return {
      ...(isReadable && isThere && mayRead && { self: { href: `${path}?at=v${version}` } }),
      ...(cause !== undefined && may(caller, 'events.trace', {}) && { cause: { href: cause } }),
    };
  };
};

/** What ends other things, as a user takes their drafts along. */
const createCauseOf = (domain: Domain): ((type: string, data: Described['data']) => string | undefined) => {
  const causes = new Map(
    membershipsOf(domain).map(({ end, parentKind, parentKey }) => [end, { path: domain.kinds[parentKind]?.path, parentKey }]),
  );
  return (type, data) => {
    const cause = causes.get(type);
    return cause && `/${cause.path}/${data[cause.parentKey]}/history`;
  };
};
