import { PERSONAL_TOKENS } from '#shared/http/authenticate/personal-tokens.ts';
import type { AnyTable } from '#shared/row-proofs/give-proofs.ts';
import { CLIENTS } from '../clients/client-table.ts';

/** Every table whose rows have proofs. */
export const GRANTING_TABLES: readonly AnyTable[] = [PERSONAL_TOKENS, CLIENTS];
