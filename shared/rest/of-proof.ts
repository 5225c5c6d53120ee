import { USER_PROOF_OPERATIONS, WEBHOOK_PROOF_OPERATIONS } from '#kernel/base/rest/item-proof-operations.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { AUDIT_OPERATIONS } from './audit.ts';
import { VERIFICATION_OPERATIONS } from './operator-operations.ts';

/** The operations of the proof. */
export const operationsOfProof = (domain: Domain) => ({
  ...AUDIT_OPERATIONS,
  ...VERIFICATION_OPERATIONS,
  ...USER_PROOF_OPERATIONS,
  ...(serves(domain, 'webhooks') && WEBHOOK_PROOF_OPERATIONS),
});
