import { publishing } from '#domain/publishing.ts';
import { policyOf, toldScopesOf } from '#shared/policy.ts';

/** Of publishing, by which all callers of the tests are judged. */
export const POLICY = policyOf(publishing);

/** Every scope of it. */
export const SCOPES = POLICY.scopes;

/** On which of them it depends what a webhook is told. */
export const TOLD_SCOPES = toldScopesOf(POLICY);
