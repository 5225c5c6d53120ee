import type { AccountRule, Upstream } from '#process/upstreams.ts';
import type { UpstreamPerson } from './connection.ts';

/** The address, if the settings say that this provider vouches for it. */
export const trustedEmail = (
  { email: trust }: Pick<Upstream, 'email'>,
  { email, isEmailVerified }: Pick<UpstreamPerson, 'email' | 'isEmailVerified'>,
): string | undefined =>
  trust === 'trusted' || (trust === 'verified' && isEmailVerified) ? email : undefined;

/** The role of the first rule that matches; undefined if none does, so that there is no account. */
export const roleFor = (
  { accounts }: Pick<Upstream, 'accounts'>,
  { email, claims }: { readonly email: string } & Pick<UpstreamPerson, 'claims'>,
): string | undefined => accounts.find((rule) => matches(rule, email, claims))?.role;

const matches = (
  { domains = 'any', claim }: AccountRule,
  email: string,
  claims: UpstreamPerson['claims'],
): boolean =>
  (domains === 'any' || domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase())) &&
  (claim === undefined || hasClaim(claims, claim));

/** Of a list, such as groups, one value is enough. */
const hasClaim = (
  claims: UpstreamPerson['claims'],
  { name, value }: NonNullable<AccountRule['claim']>,
): boolean => {
  const held = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return Array.isArray(held) ? held.includes(value) : held === value;
};
