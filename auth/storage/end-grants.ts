import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { revoke } from '#shared/http/authenticate/revocations.ts';

export type EndedGrant = { readonly grantId: string; readonly accountId: string | null; readonly clientId: string | null };

/** Ends a grant with everything that was issued under it, once; repeating it is harmless. */
export type EndGrant = (grantId: string) => Promise<void>;

type Dependencies = { readonly pool: Pool; onEnded(grant: EndedGrant): Promise<void> };

export type GrantEnder = {
  readonly endGrant: EndGrant;
  /** Every grant and session of a person who is no more, or who wants to be signed out everywhere. */
  endGrantsOfUser(userId: number): Promise<void>;
  endGrantsOfClient(clientId: string): Promise<void>;
};

/** What is stored is deleted; what was handed out as a signed token is put on the list that resource servers consult. */
export const createGrantEnder = ({ pool, onEnded }: Dependencies): GrantEnder => {
  const end = async (work: (connection: Connection) => Promise<readonly EndedGrant[]>): Promise<void> => {
    const ended = await inTransaction(pool, async (connection) => {
      const grants = await work(connection);
      for (const { grantId } of grants) await revoke(connection, 'grant', grantId);
      return grants;
    });
    for (const grant of ended) await onEnded(grant);
  };
  return {
    endGrant: (grantId) => end((connection) => deleteRecords(connection, 'grant_id', grantId)),
    endGrantsOfUser: (userId) =>
      end(async (connection) => {
        await revoke(connection, 'user', String(userId));
        return deleteRecords(connection, 'account_id', String(userId));
      }),
    endGrantsOfClient: (clientId) =>
      end(async (connection) => {
        await revoke(connection, 'client', clientId);
        return deleteRecords(connection, 'client_id', clientId);
      }),
  };
};

/** Answers with the grants among them. */
const deleteRecords = async (
  connection: Connection,
  column: 'grant_id' | 'account_id' | 'client_id',
  value: string,
): Promise<readonly EndedGrant[]> => {
  const { rows } = await connection.query<EndedGrant>(
    `with gone as (delete from auth.record where ${column} = $1 returning kind, grant_id, account_id, client_id)
     select grant_id as "grantId", account_id as "accountId", client_id as "clientId" from gone where kind = 'Grant'`,
    [value],
  );
  return rows;
};
