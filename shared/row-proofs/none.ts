import type { RowProofs } from './row-proofs.ts';

/** Of an installation without accounts: no row counts, and none is written. */
export const NO_ROW_PROOFS: RowProofs = {
  of() {
    throw new Error('Rows that let somebody act are written only where accounts are served.');
  },
  isRight: () => false,
  check: async () => false,
  upgrade: { isUnderWay: async () => false, begin: async () => {} },
};
