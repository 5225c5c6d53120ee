import { randomBytes } from 'node:crypto';
import type { Role } from '#kernel/base/events/fields.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { confirm } from '../accounts/confirmed.ts';
import { type SignedUp, type SignUpDependencies, signUp } from '../accounts/sign-up.ts';
import type { Persons } from '../directory.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';
import type { SettleResult } from '../storage/keyed-writes.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import {
  closeInvitation,
  closeInvitationTo,
  deleteExpiredInvitations,
  type InvitationRow,
  insertInvitation,
  selectInvitation,
  selectOpenInvitations,
} from './invitation-table.ts';

type Invitation = {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** The last day of an auditor. */
  readonly until?: string | undefined;
  readonly expiresAt: Date;
};
type Wanted = Pick<Invitation, 'email' | 'role' | 'until'>;

/** Invitations to create an account with a role, by a link that works once. */
export type Invitations = {
  /**
   * Returns the secret of the link, which is stored nowhere; undefined if the address has an account. Ends an
   * earlier invitation to this address. `settle` is called in the transaction.
   */
  make(wanted: Wanted, by: SecurityContext, settle?: SettleResult<string>): Promise<string | undefined>;
  find(link: string): Promise<Invitation | undefined>;
  /** Those that were neither accepted nor revoked, the newest first. */
  list(): Promise<readonly Invitation[]>;
  /** Returns false if it has ended already. */
  revoke(id: string, by: SecurityContext): Promise<boolean>;
  accept(invitation: Invitation, guest: Guest): Promise<SignedUp>;
};

type Guest = {
  readonly name: string;
  readonly password: string;
  readonly requestId: string;
  readonly trace?: string | undefined;
};

type InvitationDependencies = {
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly rowProofs: Pick<RowProofs, 'of' | 'check'>;
  readonly clock: Pick<Clock, 'nowMs' | 'aheadMs'>;
  readonly persons: Pick<Persons, 'byEmail'>;
  readonly emailHash: (email: string) => string;
  readonly record: RecordSecurityEvent;
};

const LIFETIME_MS = 7 * 86_400_000;
/** The length of a form's id, which it becomes when the invitation is accepted. */
const ID_BYTES = 16;
const LINK_BYTES = 32;
const KIND = 'invitation';

export const createInvitations = (
  dependencies: InvitationDependencies & Omit<SignUpDependencies, 'persons'> & { persons: Persons },
): Invitations => {
  const { pool, seal, rowProofs, record, clock } = dependencies;
  return {
    make: (wanted, by, settle) => makeInvitation(dependencies, wanted, by, settle),
    async find(link) {
      const row = await selectInvitation({ database: pool, rowProofs }, seal.hash(KIND, link));
      const invitation = row && opened(seal, row);
      // After the last day of an auditor, there is nothing to accept.
      return invitation?.until !== undefined && invitation.until < todayOf(clock) ? undefined : invitation;
    },
    async list() {
      await deleteExpiredInvitations(pool);
      return (await selectOpenInvitations(pool)).map((row) => opened(seal, row));
    },
    async revoke(id, by) {
      const isRevoked = await closeInvitation(pool, id, 'revoked');
      if (isRevoked) await record({ type: 'invitation.revoked', data: { invitationId: id } }, by);
      return isRevoked;
    },
    async accept({ id, email, role, until }, { requestId, ...guest }) {
      // The invitation's id is the form's id, so repeated or parallel submissions get the same account or
      // none.
      const signedUp = await signUp(dependencies, {
        ...guest,
        requestId,
        email,
        role,
        until,
        formId: `${KIND}-${id}`,
      });
      if (signedUp.outcome !== 'done') return signedUp;
      const { userId } = signedUp.person;
      // The directory may have done this already, because the address now has an account.
      await closeInvitation(pool, id, 'accepted');
      await confirm(pool, { userId, emailHash: dependencies.emailHash(email) });
      const by: SecurityContext = { actor: `user:${userId}`, client: null, requestId };
      await record({ type: 'invitation.accepted', data: { invitationId: id, userId } }, by);
      return signedUp;
    },
  };
};

/** In UTC. */
const todayOf = ({ nowMs }: Pick<Clock, 'nowMs'>): string =>
  new Date(nowMs()).toISOString().slice(0, DAY_LENGTH);
const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** Makes an invitation for a process that only invites; the invited person makes the account. */
export const makeInvitation = async (
  { pool, seal, rowProofs, clock, persons, emailHash, record }: InvitationDependencies,
  { email, role, until }: Wanted,
  by: SecurityContext,
  settle?: SettleResult<string>,
): Promise<string | undefined> => {
  if ((await persons.byEmail(email)) !== undefined) return undefined;
  const id = randomBytes(ID_BYTES).toString('base64url');
  const link = randomBytes(LINK_BYTES).toString('base64url');
  const digest = seal.hash(KIND, link);
  const sealed = seal.seal(KIND, digest, { email, ...(until !== undefined && { until }) });
  const hash = emailHash(email);
  const expiresAt = new Date(dateElsewhereMs(clock) + LIFETIME_MS);
  const replaced = await inTransaction(pool, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(hashtextextended('auth.invitation ' || $1, 0))`, [
      hash,
    ]);
    const earlier = await closeInvitationTo(connection, hash, 'revoked');
    const invitation = { id, digest, sealed, role, expiresAt, emailHash: hash };
    await insertInvitation({ database: connection, rowProofs }, invitation);
    await settle?.(connection, link);
    return earlier;
  });
  if (replaced !== undefined)
    await record({ type: 'invitation.revoked', data: { invitationId: replaced } }, by);
  await record(
    { type: 'invitation.made', data: { invitationId: id, role, ...(until !== undefined && { until }) } },
    by,
  );
  return link;
};

const opened = (seal: RecordSeal, { id, digest, sealed, role, expiresAt }: InvitationRow): Invitation => {
  const { email, until } = seal.unseal(KIND, digest, sealed) as { email: string; until?: string };
  return { id, email, role, until, expiresAt };
};
