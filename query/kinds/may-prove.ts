import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Caller, mayAlways } from '#shared/policy.ts';

/** Whether a caller gets proofs, which have everything that was recorded. */
export const mayProve = (domain: Domain, caller: Caller): boolean =>
  serves(domain, 'proof') && mayAlways(caller, 'events.export');
