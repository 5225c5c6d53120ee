import { randomBytes } from 'node:crypto';
import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type Credentials, setPhc } from '../accounts/credentials.ts';
import type { RecordSecurityEvent, SecurityCircumstances } from '../security-log.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import { insertReset, selectReset, takeReset } from './reset-table.ts';

/** Links by which somebody who has forgotten their password chooses a new one, once. */
export type PasswordResets = {
  /** What stands in the link; it is kept nowhere. */
  make(userId: UserId, by: SecurityCircumstances): Promise<string>;
  /** Whose it is, as long as it is good. */
  find(link: string): Promise<UserId | undefined>;
  /** Sets the password, and ends everything that was opened with the one before it. Answers false for a link that is not good. */
  use(link: string, password: string, requestId: string): Promise<boolean>;
};

type Dependencies = {
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly credentials: Pick<Credentials, 'hash'>;
  readonly record: RecordSecurityEvent;
  endGrantsOfUser(userId: number): Promise<void>;
};

const LIFETIME_S = 30 * 60;
const LINK_BYTES = 32;

export const createPasswordResets = ({ pool, seal, credentials, record, endGrantsOfUser }: Dependencies): PasswordResets => {
  const digestOf = (link: string): Buffer => digestIn(seal, link);
  return {
    make: (userId, by) => makeReset({ pool, seal, record }, userId, by),
    find: (link) => selectReset(pool, digestOf(link)),
    async use(link, password, requestId) {
      // Before anything is locked, because it takes long.
      const phc = await credentials.hash(password);
      const userId = await inTransaction(pool, async (connection) => {
        const taken = await takeReset(connection, digestOf(link));
        const isSet = taken !== undefined && (await setPhc(connection, taken, phc));
        return isSet ? taken : undefined;
      });
      if (userId === undefined) return false;
      await endGrantsOfUser(userId);
      await record(
        { type: 'account.password_changed', data: { userId, by: 'link' } },
        { actor: `user:${userId}`, client: null, requestId },
      );
      return true;
    },
  };
};

/** For who only helps: the link is used by whom it is for. */
export const makeReset = async (
  { pool, seal, record }: Pick<Dependencies, 'pool' | 'seal' | 'record'>,
  userId: UserId,
  by: SecurityCircumstances,
): Promise<string> => {
  const link = randomBytes(LINK_BYTES).toString('base64url');
  await insertReset(pool, { digest: digestIn(seal, link), userId, lifetimeS: LIFETIME_S });
  await record({ type: 'account.reset_requested', data: { userId } }, by);
  return link;
};

const digestIn = (seal: RecordSeal, link: string): Buffer => seal.hash('password reset', link);
