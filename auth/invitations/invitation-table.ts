import type { Role } from '#kernel/base/events/fields.ts';
import type { Pool } from '#shared/database/pool.ts';
import {
  type GrantingTable,
  type Proven,
  provenColumns,
  type RowProofs,
} from '#shared/row-proofs/row-proofs.ts';

type Queryable = Pick<Pool, 'query'>;

export type InvitationRow = {
  readonly id: string;
  readonly digest: Buffer;
  readonly sealed: Buffer;
  readonly role: Role;
  readonly expiresAt: Date;
};

type NewInvitation = InvitationRow & { readonly emailHash: string };

export const INVITATIONS: GrantingTable<InvitationRow> = {
  name: 'auth.invitation',
  key: 'id',
  keyType: 'text',
  columns: { id: 'id', digest: 'digest', sealed: 'sealed', role: 'role', expiresAt: 'expires_at' },
};

const COLUMNS = provenColumns(INVITATIONS);
/** Keeps expired invitations for a while, so that an administrator sees whom to invite again. */
const EXPIRED_KEPT_S = 7 * 86_400;
const LISTED_MAX = 500;

type Writing = { readonly database: Queryable; readonly rowProofs: Pick<RowProofs, 'of'> };

export const insertInvitation = async (
  { database, rowProofs }: Writing,
  invitation: NewInvitation,
): Promise<void> => {
  const { id, digest, emailHash, sealed, role, expiresAt } = invitation;
  await database.query(
    `insert into auth.invitation (id, digest, email_hash, sealed, role, expires_at, proof)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, digest, emailHash, sealed, role, expiresAt, rowProofs.of(INVITATIONS, invitation)],
  );
};

type Checking = { readonly database: Queryable; readonly rowProofs: Pick<RowProofs, 'check'> };

export const selectInvitation = async (
  { database, rowProofs }: Checking,
  digest: Buffer,
): Promise<InvitationRow | undefined> => {
  const { rows } = await database.query<InvitationRow & Proven>(
    `select ${COLUMNS} from auth.invitation where digest = $1 and state = 'open' and expires_at > now()`,
    [digest],
  );
  const [row] = rows;
  return row && (await rowProofs.check(INVITATIONS, row)) ? row : undefined;
};

export const selectOpenInvitations = async (database: Queryable): Promise<readonly InvitationRow[]> => {
  const { rows } = await database.query<InvitationRow>(
    `select ${COLUMNS} from auth.invitation where state = 'open' order by made_at desc, id limit ${LISTED_MAX}`,
  );
  return rows;
};

/** Ends an open invitation; returns whether there was one. */
export const closeInvitation = async (
  database: Queryable,
  id: string,
  state: 'accepted' | 'revoked',
): Promise<boolean> => {
  const { rowCount } = await database.query(
    `update auth.invitation set state = $2, digest = null, email_hash = null, sealed = null where id = $1 and state = 'open'`,
    [id, state],
  );
  return rowCount === 1;
};

/** Ends and returns the invitation to this address, if any. */
export const closeInvitationTo = async (
  database: Queryable,
  emailHash: string,
  state: 'accepted' | 'revoked',
): Promise<string | undefined> => {
  const { rows } = await database.query<{ id: string }>(
    `update auth.invitation set state = $2, digest = null, email_hash = null, sealed = null
     where email_hash = $1 and state = 'open' returning id`,
    [emailHash, state],
  );
  return rows[0]?.id;
};

export const deleteExpiredInvitations = async (database: Queryable): Promise<void> => {
  await database.query(
    `delete from auth.invitation where expires_at < now() - ${EXPIRED_KEPT_S} * interval '1 second'`,
  );
};
