import { publishing } from '#domain/publishing.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { type Caller, type Policy, policyOf, scopesOfEvents } from '#shared/policy.ts';

/** The policy of publishing, for all callers in tests. */
export const POLICY = policyOf(publishing);

/** Every scope of it. */
export const SCOPES = POLICY.scopes;

/** The scopes on which the content of webhooks depends. */
export const EVENT_SCOPES = scopesOfEvents(POLICY);

/** A signed-in user, by default with every scope. */
export const callerIn = (
  policy: Policy,
  { userId, role }: { readonly userId: number; readonly role: string },
  scopes: Iterable<string> = policy.scopes,
): Extract<Caller, { readonly kind: 'user' }> => ({
  kind: 'user',
  policy,
  userId: userId as UserId,
  role: role as Role,
  scopes: new Set(scopes),
  client: null,
});
