import { PERSONAL_TOKENS } from '#edge/authenticate/personal-tokens.ts';
import type { AnyTable } from '#shared/row-proofs/give-proofs.ts';
import { CREDENTIALS } from './accounts/credentials.ts';
import { SIGN_UPS } from './accounts/sign-up-table.ts';
import { CLIENTS } from './clients/client-table.ts';
import { INVITATIONS } from './invitations/invitation-table.ts';
import { RESETS } from './password-reset/reset-table.ts';

/** Every table whose rows have proofs. */
export const GRANTING_TABLES: readonly AnyTable[] = [
  PERSONAL_TOKENS,
  CLIENTS,
  CREDENTIALS,
  SIGN_UPS,
  RESETS,
  INVITATIONS,
];
