import type { Domain } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import { scopeWordsOf } from '#shared/scope-words.ts';

/** The scopes of OpenID Connect, which come first. */
const IDENTITY: Readonly<Record<string, string>> = {
  openid: 'Know who you are',
  profile: 'See your name',
  email: 'See your e-mail address',
  offline_access: 'Stay connected when you are not using it',
};

/** A scope, and its description for people, if we have one. The role and ownership limit it further. */
export type WordedScope = { readonly scope: string; readonly words: string | undefined };

/** In the order of the policy, not of the request. */
export const inWords = (domain: Domain, scopes: Iterable<string>): readonly WordedScope[] => {
  const words = scopeWordsOf(domain);
  const order = [...Object.keys(IDENTITY), ...policyOf(domain).scopes];
  const rank = (scope: string) => (order.includes(scope) ? order.indexOf(scope) : order.length);
  return [...new Set(scopes)]
    .toSorted((one, other) => rank(one) - rank(other))
    .map((scope) => ({
      scope,
      words: (Object.hasOwn(IDENTITY, scope) ? IDENTITY[scope] : undefined) ?? words.get(scope)?.asked,
    }));
};
