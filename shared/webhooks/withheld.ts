import type { Facts } from '#kernel/conditions/facts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { concernOf } from '#shared/change-stream/who-may-know.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';
import type { Role } from '#shared/events/fields.ts';
import { TOLD_SCOPES, type ToldScope } from '#shared/events/webhook.ts';
import { mayByFacts, type Operation, policyOf } from '#shared/policy.ts';
import type { Withheld } from '#shared/rest/webhook.ts';

type Told = { readonly eventTypes: readonly string[]; readonly scopes: readonly ToldScope[] };

/** What of the events that a webhook asks for is not sent to it, and why, in the order in which it asks. */
export const withheldOf = (domain: Domain, { eventTypes, scopes }: Told, role: Role): readonly Withheld[] => {
  const toldOf = tellerOf(domain, role);
  return eventTypes.flatMap((eventType) => {
    const told = toldOf(eventType, scopes);
    const lacking = TOLD_SCOPES.filter((scope) => !scopes.includes(scope) && toldOf(eventType, [...scopes, scope]) > told);
    const left = told === 0 ? 'Nothing of this is sent' : 'Only a part of this is sent';
    if (lacking.length > 0)
      return lacking.map((scope) => ({
        eventType,
        scope,
        reason: `${left}: the token that last decided what goes where lacked the scope ${scope}.`,
      }));
    return told > 0 ? [] : [{ eventType, reason: `${left}: the role of the owner, ${role}, does not let them read it.` }];
  });
};

/** The scopes without which nothing of it could be sent to anybody; none where something could. */
export const scopesLackedByAll = (domain: Domain, { eventTypes, scopes }: Told): readonly ToldScope[] =>
  eventTypes.some((each) => tellerOf(domain, 'admin')(each, scopes) > 0)
    ? []
    : [...new Set(withheldOf(domain, { eventTypes, scopes }, 'admin').flatMap(({ scope }) => scope ?? []))];

/** In how many cases what it stands for is told to an owner. */
const tellerOf =
  (domain: Domain, role: Role) =>
  (pattern: string, scopes: readonly ToldScope[]): number => {
    const owner = { kind: 'user', policy: policyOf(domain), userId: OWNER, role, scopes: new Set(scopes), client: null } as const;
    return typesOf(catalogueOf(domain), pattern)
      .flatMap(casesOf)
      .filter(([right, facts]) => mayByFacts(owner, right, facts)).length;
  };

const OWNER = 1 as UserId;
const OTHER = 2 as UserId;

const OWNED: readonly Facts[] = [{ ownerId: OWNER }, { ownerId: OTHER }];
const PLACED = OWNED.flatMap(({ ownerId }) =>
  [OWNER, OTHER].flatMap((articleAuthorId) =>
    (['draft', 'published'] as const).map((articleStatus) => ({ ownerId, articleAuthorId, articleStatus })),
  ),
);
const [DRAFTS, PUBLISHED] = [
  PLACED.filter(({ articleStatus }) => articleStatus === 'draft'),
  PLACED.filter(({ articleStatus }) => articleStatus === 'published'),
];

/** What was drafted is published by an event of its own, and comments are added to what is published. */
const placesOf = (type: string): readonly Facts[] => {
  if (type === 'article.drafted') return DRAFTS;
  return type === 'article.published' || type === 'article.unpublished' || type === 'comment.added' ? PUBLISHED : PLACED;
};

type Case = readonly [Operation, Facts];
const under = (right: Operation, resources: readonly Facts[]): readonly Case[] => resources.map((resource) => [right, resource]);

/** On whose behalf, and of what, an event of the type may be. */
const casesOf = (type: string): readonly Case[] => {
  switch (concernOf(type)) {
    case 'article':
      return under('article.read', placesOf(type));
    case 'comment':
      return under('comment.read', placesOf(type));
    case 'webhook':
      return under('webhook.manage', OWNED);
    case 'profile':
      return under('user.read', OWNED);
    case 'profile_change':
      return [...under('user.read', OWNED), ...under('user.read_private', OWNED)];
    case 'private':
      return under('user.read_private', OWNED);
    case 'internal':
      return [];
  }
};
