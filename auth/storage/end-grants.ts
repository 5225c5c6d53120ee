import { revoke } from '#edge/authenticate/revocations.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type EndedGrant, endRecords, type RecordOwner } from './end-records.ts';
import { deletePersonalTokensOf } from './token-table.ts';

/** Ends a grant with everything that was issued under it. Idempotent. */
export type EndGrant = (grantId: string) => Promise<void>;

type Dependencies = { readonly pool: Pool; onEnded(grant: EndedGrant): Promise<void> };

export type GrantEnder = {
  readonly endGrant: EndGrant;
  /**
   * Ends every grant, session and personal access token of a user who was deleted, or who signs out
   * everywhere.
   */
  endGrantsOfUser(userId: number): Promise<void>;
  endGrantsOfClient(clientId: string): Promise<void>;
};

/** Ends them in transactions of its own, and calls `onEnded` for each after the commit. */
export const createGrantEnder = ({ pool, onEnded }: Dependencies): GrantEnder => {
  const end = async (work: (connection: Connection) => Promise<readonly EndedGrant[]>): Promise<void> => {
    for (const grant of await inTransaction(pool, work)) await onEnded(grant);
  };
  return {
    endGrant: (grantId) => end((connection) => endGrants(connection, 'grant_id', grantId)),
    endGrantsOfUser: (userId) => end((connection) => endGrantsOfUser(connection, userId)),
    endGrantsOfClient: (clientId) => end((connection) => endGrantsOfClient(connection, clientId)),
  };
};

const endGrantsOfUser = async (connection: Connection, userId: number): Promise<readonly EndedGrant[]> => {
  await revoke(connection, 'user', String(userId));
  await deletePersonalTokensOf(connection, userId);
  return endGrants(connection, 'account_id', String(userId));
};

/** Ends them in the caller's transaction; the caller reports the returned grants after its commit. */
export const endGrantsOfClient = async (
  connection: Connection,
  clientId: string,
): Promise<readonly EndedGrant[]> => {
  await revoke(connection, 'client', clientId);
  return endGrants(connection, 'client_id', clientId);
};

/**
 * Deletes stored records in the caller’s transaction; signed tokens go on the revocation list that resource
 * servers check.
 */
export const endGrants = async (
  connection: Connection,
  owner: RecordOwner,
  value: string,
): Promise<readonly EndedGrant[]> => {
  const ended = await endRecords(connection, owner, value);
  for (const { grantId } of ended) await revoke(connection, 'grant', grantId);
  return ended;
};
