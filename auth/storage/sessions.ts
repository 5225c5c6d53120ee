import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { buryRecord } from './end-records.ts';
import type { RecordSeal } from './seal-record.ts';
import type { Visit } from './visit.ts';

/** One browser in which somebody is signed in. */
export type OpenSession = {
  /** Its lasting name, which is no secret: what the browser has is another one. */
  readonly uid: string;
  readonly signedInAtS: number;
  /** Undefined for one from before this was kept. */
  readonly seen: Visit | undefined;
};

/** The sessions of persons, beside what oidc-provider does with the one at hand. */
export type Sessions = {
  /** Those that are open, the last seen first. */
  of(userId: UserId): Promise<readonly OpenSession[]>;
  /** Ends those of a person that are chosen; answers which there were. Repeating it is harmless. */
  end(userId: UserId, isMeant: (session: OpenSession) => boolean): Promise<readonly OpenSession[]>;
  /** Notes that one was seen; where it is saved by somebody else at this moment, that counts instead. */
  note(uid: string, visit: Visit): Promise<void>;
};

type Row = { readonly idHash: Buffer; readonly sealed: Buffer };
/** What `adapter.ts` keeps of a session, as far as it is read here. */
type Kept = { readonly uid: string; readonly loginTs?: number; readonly iat?: number; readonly seen?: Visit };

const KIND = 'Session';
/** Nobody has so many browsers; what is beyond is ended all the same where all are. */
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

const sessionOf = ({ uid, loginTs, iat, seen }: Kept): OpenSession => ({
  uid,
  signedInAtS: loginTs ?? iat ?? 0,
  seen,
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
