import { revoke } from '#edge/authenticate/revocations.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { personalTokenClient } from '#shared/policy.ts';
import { endGrants } from './end-grants.ts';
import { buryRecord, type EndedGrant } from './end-records.ts';
import type { SettleResult } from './keyed-writes.ts';
import type { RecordSeal } from './seal-record.ts';
import { KIND, type OpenSession, openSessionsOf } from './sessions.ts';
import { deletePersonalTokensOf } from './token-table.ts';

type GrantOf = {
  readonly clientId: string;
  /** Whether it is that of the console in a session that stays. */
  readonly isInSession: boolean;
};

/** The kinds of access that end; none by default. */
export type Chosen = {
  /** Each ends with the console in its browser. */
  readonly isSession?: (session: OpenSession) => boolean;
  readonly isGrant?: (grant: GrantOf) => boolean;
  readonly withTokens?: boolean;
};

export type EndedAccess = {
  readonly sessions: readonly OpenSession[];
  readonly grants: readonly EndedGrant[];
  readonly tokenIds: readonly string[];
};

/** Ends access in one transaction, and returns what there was. Idempotent, except for this number. */
export type EndAccess = (
  userId: UserId,
  chosen: Chosen,
  settle?: SettleResult<EndedAccess>,
) => Promise<EndedAccess>;

export const createEndAccess =
  ({ pool, seal }: { readonly pool: Pool; readonly seal: RecordSeal }): EndAccess =>
  (userId, { isSession = none, isGrant = none, withTokens = false }, settle = async () => {}) =>
    inTransaction(pool, async (connection) => {
      const ending: { readonly idHash: Buffer; readonly session: OpenSession }[] = [];
      const [endsWithSession, staysWithSession] = [new Set<string>(), new Set<string>()];
      for await (const [idHash, session] of openSessionsOf(connection, seal, userId)) {
        const isMeant = isSession(session);
        if (isMeant) ending.push({ idHash, session });
        if (session.consoleGrant !== undefined)
          (isMeant ? endsWithSession : staysWithSession).add(session.consoleGrant);
      }
      const isMeant = ({ grantId, clientId }: Grant): boolean =>
        endsWithSession.has(grantId) || isGrant({ clientId, isInSession: staysWithSession.has(grantId) });
      // Tokens, grants and then sessions, as all else that ends several: otherwise two could wait for each other.
      const tokenIds = withTokens ? await deletePersonalTokensOf(connection, userId) : [];
      for (const id of tokenIds) await revoke(connection, 'jti', personalTokenClient(id));
      const grants: EndedGrant[] = [];
      for (const grant of (await selectGrants(connection, userId)).filter(isMeant))
        grants.push(...(await endGrants(connection, 'grant_id', grant.grantId)));
      for (const { idHash } of ending) await buryRecord(connection, { kind: KIND, idHash });
      const ended = { sessions: ending.map(({ session }) => session), grants, tokenIds };
      await settle(connection, ended);
      return ended;
    });

const none = (): boolean => false;

type Grant = { readonly grantId: string; readonly clientId: string };

/** All of them, in the order in which they are locked. */
const selectGrants = async (connection: Connection, userId: UserId): Promise<readonly Grant[]> => {
  const { rows } = await connection.query<Grant>(
    `select grant_id as "grantId", client_id as "clientId" from auth.record
     where account_id = $1 and kind = 'Grant' and ended_at is null and grant_id is not null order by id_hash`,
    [String(userId)],
  );
  return rows;
};
