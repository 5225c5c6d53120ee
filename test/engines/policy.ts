import { publishing } from '#domain/publishing.ts';
import { policyOf } from '#shared/policy.ts';

/** Of publishing, by which all callers of the tests are judged. */
export const POLICY = policyOf(publishing);

/** Every scope of it. */
export const SCOPES = POLICY.scopes;
