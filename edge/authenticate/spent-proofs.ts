import { createHash } from 'node:crypto';
import type { Pool } from '#shared/database/pool.ts';

/** Remembers what may be used once, for all processes together. */
export type SpentProofs = {
  /** Returns whether this is its first use. */
  spend(proof: {
    readonly signer: string;
    readonly jti: string;
    readonly expiresAtS: number;
  }): Promise<boolean>;
};

/** Beyond a proof’s own lifetime, for clocks that differ. */
const MARGIN_S = 60;

export const createSpentProofs = (pool: Pool): SpentProofs => ({
  async spend({ signer, jti, expiresAtS }) {
    const digest = createHash('sha256').update(`${signer} ${jti}`).digest();
    return insertProof(pool, digest, expiresAtS + MARGIN_S);
  },
});

/**
 * One insert decides between concurrent uses. It does not wait for the disk: a crash of the server may forget
 * the proofs of its last half second, and an attacker would have to know one of those and wait for the crash.
 */
const insertProof = async (pool: Pool, digest: Buffer, expiresAtS: number): Promise<boolean> => {
  const { rowCount } = await pool.query({
    name: 'spend-proof',
    text: `with hurry as materialized (select set_config('synchronous_commit', 'off', true))
           insert into auth.spent_proof (digest, expires_at) select $1, to_timestamp($2) from hurry
           on conflict (digest) do nothing`,
    values: [digest, expiresAtS],
  });
  return rowCount === 1;
};
