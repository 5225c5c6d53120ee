import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { CONSOLE } from '../clients/client.ts';
import { buryRecord } from './end-records.ts';
import type { RecordSeal } from './seal-record.ts';
import type { Visit } from './visit.ts';

/** One browser in which a person is signed in. */
export type OpenSession = {
  /** Its permanent id, which is no secret: the browser's cookie is a different value. */
  readonly uid: string;
  readonly signedInAtS: number;
  /** Undefined for a session older than this field. */
  readonly seen: Visit | undefined;
  /** Of the console in this browser, which ends with it. */
  readonly consoleGrant: string | undefined;
};

/** A person's sessions, beyond what oidc-provider does with the current one. */
export type Sessions = {
  /** The open ones, the last seen first. */
  of(userId: UserId): Promise<readonly OpenSession[]>;
  /** Ends the chosen sessions of a person; returns those that there were. Idempotent. */
  end(userId: UserId, isMeant: (session: OpenSession) => boolean): Promise<readonly OpenSession[]>;
  /** Records a visit; a concurrent save of the session wins. */
  note(uid: string, visit: Visit): Promise<void>;
};

type Row = { readonly idHash: Buffer; readonly sealed: Buffer };
/** The fields that `adapter.ts` stores of a session and that are read here. */
type Kept = {
  readonly uid: string;
  readonly loginTs?: number;
  readonly iat?: number;
  readonly seen?: Visit;
  readonly authorizations?: Record<string, { readonly grantId?: string }>;
};

const KIND = 'Session';
/** More than anybody has browsers. Ending all sessions also ends those beyond the limit. */
const SESSIONS_MAX = 500;

export const createSessions = ({ pool, seal }: { pool: Pool; seal: RecordSeal }): Sessions => {
  const open = ({ idHash, sealed }: Row): Kept => seal.unseal(KIND, idHash, sealed) as unknown as Kept;
  return {
    async of(userId) {
      return (await selectOpen(pool, userId)).map(open).map(sessionOf).toSorted(byLastSeen);
    },
    end: (userId, isMeant) =>
      inTransaction(pool, async (connection) => {
        const ended: OpenSession[] = [];
        for (const row of await selectOpen(connection, userId, 'for update')) {
          const session = sessionOf(open(row));
          if (!isMeant(session)) continue;
          await buryRecord(connection, { kind: KIND, idHash: row.idHash });
          ended.push(session);
        }
        return ended;
      }),
    async note(uid, visit) {
      const row = await selectByUid(pool, seal.hash(`${KIND} other`, uid));
      if (row === undefined) return;
      await pool.query(
        `update auth.record set sealed = $3 where kind = '${KIND}' and id_hash = $1 and sealed = $2 and ended_at is null`,
        [row.idHash, row.sealed, seal.seal(KIND, row.idHash, { ...open(row), seen: visit })],
      );
    },
  };
};

const sessionOf = ({ uid, loginTs, iat, seen, authorizations }: Kept): OpenSession => ({
  uid,
  signedInAtS: loginTs ?? iat ?? 0,
  seen,
  consoleGrant: authorizations?.[CONSOLE]?.grantId,
});

const byLastSeen = (one: OpenSession, other: OpenSession): number => lastSeenS(other) - lastSeenS(one);

const lastSeenS = ({ seen, signedInAtS }: OpenSession): number => seen?.atS ?? signedInAtS;

const selectOpen = async (
  database: Pick<Pool, 'query'>,
  userId: UserId,
  lock: '' | 'for update' = '',
): Promise<readonly Row[]> => {
  const { rows } = await database.query<Row>(
    `select id_hash as "idHash", sealed from auth.record
     where account_id = $1 and kind = '${KIND}' and ended_at is null and expires_at > now() order by id_hash limit ${SESSIONS_MAX} ${lock}`,
    [String(userId)],
  );
  return rows;
};

const selectByUid = async (database: Pick<Pool, 'query'>, otherHash: Buffer): Promise<Row | undefined> => {
  const { rows } = await database.query<Row>(
    `select id_hash as "idHash", sealed from auth.record where kind = '${KIND}' and other_hash = $1 and ended_at is null`,
    [otherHash],
  );
  return rows[0];
};
