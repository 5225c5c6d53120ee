import { randomBytes } from 'node:crypto';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordSeal } from '../storage/seal-record.ts';

/** The input of a person who has not shown yet that the address is theirs. The account is made only then. */
type PendingSignUp = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly phc: string;
};

export type PendingSignUps = {
  /** Returns the secret for the link; it is stored nowhere. */
  make(wanted: Omit<PendingSignUp, 'id'>): Promise<string>;
  find(link: string): Promise<PendingSignUp | undefined>;
  end(link: string): Promise<void>;
};

const LIFETIME_S = 86_400;
const ID_BYTES = 16;
const LINK_BYTES = 32;
const KIND = 'sign-up';

export const createPendingSignUps = ({
  pool,
  seal,
}: {
  readonly pool: Pool;
  readonly seal: RecordSeal;
}): PendingSignUps => ({
  async make(wanted) {
    const link = randomBytes(LINK_BYTES).toString('base64url');
    const digest = seal.hash(KIND, link);
    const id = randomBytes(ID_BYTES).toString('base64url');
    await insert(pool, digest, seal.seal(KIND, digest, { ...wanted, id }));
    return link;
  },
  async find(link) {
    const digest = seal.hash(KIND, link);
    const sealed = await select(pool, digest);
    return sealed === undefined ? undefined : (seal.unseal(KIND, digest, sealed) as PendingSignUp);
  },
  async end(link) {
    await pool.query('delete from auth.pending_sign_up where digest = $1', [seal.hash(KIND, link)]);
  },
});

const insert = async (pool: Pool, digest: Buffer, sealed: Buffer): Promise<void> => {
  await pool.query(
    `insert into auth.pending_sign_up (digest, sealed, expires_at) values ($1, $2, now() + $3 * interval '1 second')`,
    [digest, sealed, LIFETIME_S],
  );
};

const select = async (pool: Pool, digest: Buffer): Promise<Buffer | undefined> => {
  const { rows } = await pool.query<{ sealed: Buffer }>(
    'select sealed from auth.pending_sign_up where digest = $1 and expires_at > now()',
    [digest],
  );
  return rows[0]?.sealed;
};
