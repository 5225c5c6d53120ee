import { revoke } from '#edge/authenticate/revocations.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { LIFETIMES_S } from '../security/lifetimes.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';

/** An agent that has acted for a user by token exchange. */
export type Agent = {
  readonly agent: string;
  /** The application that passed on the token of the user. */
  readonly application: string;
  readonly scopes: readonly string[];
  readonly since: Date;
  readonly usedAt: Date;
  /** Set if the user has ended it: it gets no more tokens of theirs. */
  readonly endedAt: Date | null;
};

export type Exchange = Pick<Agent, 'agent' | 'application' | 'scopes'> & {
  readonly userId: UserId;
  readonly grantId: string;
  readonly jti: string;
  readonly expiresInS: number;
  readonly requestId: string;
};

type Dependencies = { readonly pool: Pool; readonly record: RecordSecurityEvent };

/**
 * Records an exchange before the agent gets the token. Returns false if the user has ended the agent, or was deleted.
 */
export const noteExchange =
  ({ pool, record }: Dependencies) =>
  async ({ jti, expiresInS, requestId, ...exchange }: Exchange): Promise<boolean> => {
    const { userId, agent, application, grantId, scopes } = exchange;
    const { rowCount } = await pool.query(
      `with noted as (
         insert into auth.agent as known (user_id, agent, application, grant_id, scopes, expires_at)
         select user_id, $2, $3, $4, $5, now() + $6 * interval '1 second' from auth.person
         where user_id = $1 and status = 'active' for share
         on conflict (user_id, agent) do update
           set application = excluded.application, grant_id = excluded.grant_id, scopes = excluded.scopes,
               used_at = now(), expires_at = excluded.expires_at
         where known.ended_at is null
         returning user_id)
       insert into auth.agent_token (jti, user_id, agent, expires_at)
       select $7, user_id, $2, now() + $8 * interval '1 second' from noted`,
      [userId, agent, application, grantId, scopes, LIFETIMES_S.Grant, jti, expiresInS],
    );
    if (rowCount !== 1) return false;
    const data = { grantId, userId, clientId: agent, application, scopes: [...scopes] };
    const client = `${application}>${agent}`;
    await record({ type: 'token.exchanged', data }, { actor: `user:${userId}`, client, requestId });
    return true;
  };

/** The agents of users, for their accounts. */
export type Agents = {
  /** Those that can get tokens, and those that the user has ended. */
  of(userId: UserId): Promise<readonly Agent[]>;
  /** Refuses its tokens within about a second, and gives it no others. */
  end(userId: UserId, agent: string, by: SecurityContext): Promise<void>;
  allow(userId: UserId, agent: string, by: SecurityContext): Promise<void>;
};

export const createAgents = ({ pool, record }: Dependencies): Agents => ({
  of: (userId) => selectAgents(pool, userId),
  async end(userId, agent, by) {
    const isEnded = await inTransaction(pool, async (connection) => {
      // An exchange at the same time holds the row: its token is found below.
      const { rowCount } = await connection.query(
        'update auth.agent set ended_at = now() where user_id = $1 and agent = $2 and ended_at is null',
        [userId, agent],
      );
      const { rows } = await connection.query<{ jti: string }>(
        'delete from auth.agent_token where user_id = $1 and agent = $2 returning jti',
        [userId, agent],
      );
      for (const { jti } of rows) await revoke(connection, 'jti', jti);
      return rowCount === 1;
    });
    if (isEnded) await record({ type: 'account.agent_ended', data: { userId, clientId: agent } }, by);
  },
  async allow(userId, agent, by) {
    const { rowCount } = await pool.query(
      'update auth.agent set ended_at = null where user_id = $1 and agent = $2 and ended_at is not null',
      [userId, agent],
    );
    if (rowCount === 1)
      await record({ type: 'account.agent_allowed', data: { userId, clientId: agent } }, by);
  },
});

const AGENTS_MAX = 500;

const selectAgents = async (database: Pick<Pool, 'query'>, userId: UserId): Promise<readonly Agent[]> => {
  const { rows } = await database.query<Agent>(
    `select agent, application, scopes, since, used_at as "usedAt", ended_at as "endedAt" from auth.agent
     where user_id = $1 and (ended_at is not null or exists (
       select from auth.record
       where kind = 'Grant' and record.grant_id = agent.grant_id and record.ended_at is null and record.expires_at > now()))
     order by since, agent limit ${AGENTS_MAX}`,
    [userId],
  );
  return rows;
};
