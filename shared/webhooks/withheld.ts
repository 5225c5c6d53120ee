import type { UserId } from '#kernel/base/brands.ts';
import { spaced } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Attributes } from '#kernel/conditions/holds.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isAuditorRole } from '#kernel/registry/roles.ts';
import { type Case, casesOf } from '#kernel/visibility/cases.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';
import { mayByFacts, policyOf, scopesOfEvents } from '#shared/policy.ts';
import type { Withheld } from '#shared/rest/withheld.ts';
import type { RoleAndAttributes } from '#shared/role-and-attributes.ts';

type Requested = { readonly eventTypes: readonly string[]; readonly scopes: readonly string[] };

/** The requested events of a webhook that are withheld from it, and why, in the order of the request. */
export const withheldOf = (
  domain: Domain,
  { eventTypes, scopes }: Requested,
  standing: RoleAndAttributes,
): readonly Withheld[] => {
  const visibleCases = counterOfVisible(domain, standing);
  return eventTypes.flatMap((eventType) => {
    const visible = visibleCases(eventType, scopes);
    const lacking = scopesOfEvents(policyOf(domain)).filter(
      (scope) => !scopes.includes(scope) && visibleCases(eventType, [...scopes, scope]) > visible,
    );
    const left = visible === 0 ? 'Not sent' : 'Only partly sent';
    if (lacking.length > 0)
      return lacking.map((scope) => ({
        eventType,
        scope,
        reason: `${left}: the token that registered or enabled the webhook, or last changed its destination or events, lacked the scope ${scope}.`,
      }));
    return visible > 0 ? [] : [{ eventType, reason: `${left}: ${reasonOf(domain, standing)}.` }];
  });
};

const reasonOf = (domain: Domain, { role }: RoleAndAttributes): string => {
  const names = attributesOf(domain).map(({ name }) => spaced(name));
  return names.length === 0
    ? `the role of the owner, ${role}, does not allow reading these events`
    : `neither the role of the owner, ${role}, nor their ${names.join(' or ')} allows reading these events`;
};

/** The scopes without which none of the events could be sent to anybody; empty if some could. */
export const scopesLackedByAll = (domain: Domain, { eventTypes, scopes }: Requested): readonly string[] =>
  eventTypes.some((each) => counterOfVisible(domain, ADMIN)(each, scopes) > 0)
    ? []
    : [...new Set(withheldOf(domain, { eventTypes, scopes }, ADMIN).flatMap(({ scope }) => scope ?? []))];

const ADMIN: RoleAndAttributes = { role: 'admin' };

/** The number of cases in which an owner may see events of the pattern. */
const counterOfVisible =
  (domain: Domain, { role, attributes }: RoleAndAttributes) =>
  (pattern: string, scopes: readonly string[]): number => {
    if (isAuditorRole(domain, role)) return 0;
    const owner = {
      kind: 'user',
      policy: policyOf(domain),
      userId: OWNER,
      role,
      attributes: attributes ?? undefined,
      scopes: new Set(scopes),
      client: null,
    } as const;
    return typesOf(catalogueOf(domain), pattern)
      .flatMap((type) => casesOfType(domain, type, attributes ?? undefined))
      .filter(({ right, facts }) => facts.some((each) => mayByFacts(owner, right, each))).length;
  };

const OWNER = 1 as UserId;
const OTHER = 2 as UserId;

const knownCasesOf = oncePer((_domain: Domain) => new Map<string, readonly Case[]>());

/** The possible owners and objects of an event of the type; computed once. */
const casesOfType = (domain: Domain, type: string, own: Attributes | undefined): readonly Case[] => {
  // Every owner has cases of their own.
  if (own !== undefined && visibilityOf(domain).types.has(type))
    return casesOf(domain, type, { owner: OWNER, other: OTHER, own });
  const known = knownCasesOf(domain);
  const cases =
    known.get(type) ??
    (visibilityOf(domain).types.has(type)
      ? casesOf(domain, type, { owner: OWNER, other: OTHER })
      : ownCasesOf(domain, type));
  known.set(type, cases);
  return cases;
};

/** Of kernel events. */
const ownCasesOf = (domain: Domain, type: string): readonly Case[] => {
  const visibleTo = catalogueOf(domain).find(type)?.visibleTo;
  return visibleTo === undefined
    ? []
    : [OWNER, OTHER].map((ownerId) => ({ right: visibleTo.right, facts: [{ ownerId }] }));
};
