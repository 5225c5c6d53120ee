import { randomBytes } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { confirm, isConfirmed } from '../accounts/confirmed.ts';
import { type Credentials, setPhc } from '../accounts/credentials.ts';
import { removeIdentitiesOf } from '../identities/identities.ts';
import { removePasskeysOf } from '../passkeys/passkeys.ts';
import { selectEmailHash } from '../persons/person-table.ts';
import { turnOffSecondFactor } from '../second-factor/second-factors.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import { insertReset, selectReset, takeReset } from './reset-table.ts';

/** Links to choose a new password, each valid once. */
export type PasswordResets = {
  /** Returns the secret of the link; it is stored nowhere. */
  make(userId: UserId, by: SecurityContext): Promise<string>;
  /** The person, as long as the link is valid. */
  find(link: string): Promise<UserId | undefined>;
  /**
   * Sets the password, and ends everything that was opened with the former one. The first mailed link that is
   * used also removes passkeys, linked accounts, codes and webhooks: until then nobody has shown that the account is theirs.
   * Returns false for an invalid link.
   */
  use(link: string, password: string, requestId: string): Promise<boolean>;
};

type Dependencies = {
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly rowProofs: Pick<RowProofs, 'of' | 'check'>;
  readonly clock: Pick<Clock, 'nowMs' | 'aheadMs'>;
  readonly credentials: Pick<Credentials, 'hash'>;
  readonly record: RecordSecurityEvent;
  /** For events that trigger further effects. */
  readonly recordOrFail: RecordSecurityEvent;
  endGrantsOfUser(userId: number): Promise<void>;
};

const LIFETIME_MS = 30 * 60_000;
const LINK_BYTES = 32;

export const createPasswordResets = (dependencies: Dependencies): PasswordResets => {
  const { pool, seal, rowProofs, credentials, record, recordOrFail, endGrantsOfUser } = dependencies;
  const digestOf = (link: string): Buffer => digestIn(seal, link);
  const reading = { database: pool, rowProofs };
  return {
    make: (userId, by) => makeReset(dependencies, { userId, isMailed: true }, by),
    find: async (link) => (await selectReset(reading, digestOf(link)))?.userId,
    async use(link, password, requestId) {
      const found = await selectReset(reading, digestOf(link));
      if (found === undefined) return false;
      const { userId } = found;
      const by = { actor: `user:${userId}`, client: null, requestId } as const;
      // Hashing is slow: do it before taking any lock.
      const phc = await credentials.hash(password);
      // The creator of the account may not be the person who reads the mail to its address.
      const isFirst = found.isMailed && !(await isConfirmed(pool, userId));
      if (isFirst) await removeOtherWays(dependencies, userId, by);
      const taken = await inTransaction(pool, async (connection) => {
        const within = { database: connection, rowProofs };
        const isTaken =
          (await takeReset(within, digestOf(link))) === userId && (await setPhc(within, userId, phc));
        // A link becomes invalid when the address changes, so the current address is the one that the link
        // went to.
        return isTaken ? { emailHash: await selectEmailHash(connection, userId) } : undefined;
      });
      if (taken === undefined) return false;
      await endGrantsOfUser(userId);
      if (isFirst) {
        // Once more, because sessions that existed until now may have added something.
        await removeOtherWays(dependencies, userId, by);
        // The command role ends webhooks after this event. If the log does not answer, the next link repeats
        // all of it.
        await recordOrFail({ type: 'account.reclaimed', data: { userId } }, by);
        if (taken.emailHash !== null) await confirm(pool, { userId, emailHash: taken.emailHash });
      }
      await record({ type: 'account.password_changed', data: { userId, by: 'link' } }, by);
      return true;
    },
  };
};

/** Everything by which a person signs in beside the password. */
const removeOtherWays = async (
  dependencies: Dependencies,
  userId: UserId,
  by: SecurityContext,
): Promise<void> => {
  await removePasskeysOf(dependencies, userId, by);
  await removeIdentitiesOf(dependencies, userId, by);
  await turnOffSecondFactor(dependencies, userId, by);
};

type Made = { readonly userId: UserId; readonly isMailed: boolean };

/** Makes a link for a process that does not use links itself. */
export const makeReset = async (
  {
    pool,
    seal,
    rowProofs,
    clock,
    record,
  }: Pick<Dependencies, 'pool' | 'seal' | 'rowProofs' | 'clock' | 'record'>,
  { userId, isMailed }: Made,
  by: SecurityContext,
): Promise<string> => {
  const link = randomBytes(LINK_BYTES).toString('base64url');
  const expiresAt = new Date(dateElsewhereMs(clock) + LIFETIME_MS);
  const reset = { digest: digestIn(seal, link), userId, expiresAt, isMailed };
  await insertReset({ database: pool, rowProofs }, reset);
  await record({ type: 'account.reset_requested', data: { userId } }, by);
  return link;
};

const digestIn = (seal: RecordSeal, link: string): Buffer => seal.hash('password reset', link);
