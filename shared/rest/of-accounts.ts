import type { Domain } from '#kernel/registry/registry.ts';
import { clientOperations } from './clients.ts';
import { managedAccountOperations } from './managed-accounts.ts';
import { personalTokenOperations } from './personal-tokens.ts';

/** The operations of the authorization server. */
export const operationsOfAccounts = (domain: Domain) => ({
  ...clientOperations(domain),
  ...personalTokenOperations(domain),
  ...managedAccountOperations(domain),
});
