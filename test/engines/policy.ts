import { publishing } from '#domain/publishing.ts';
import { policyOf, scopesOfEvents } from '#shared/policy.ts';

/** The policy of publishing, for all callers in tests. */
export const POLICY = policyOf(publishing);

/** Every scope of it. */
export const SCOPES = POLICY.scopes;

/** The scopes on which the content of webhooks depends. */
export const EVENT_SCOPES = scopesOfEvents(POLICY);
