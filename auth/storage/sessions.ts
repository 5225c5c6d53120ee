import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { CONSOLE } from './client.ts';
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

export const KIND = 'Session';
/** More than anybody has browsers: a list shows no more. */
const SHOWN_MAX = 500;
const PAGE = 500;

export const createSessions = ({ pool, seal }: { pool: Pool; seal: RecordSeal }): Sessions => {
  return {
    async of(userId) {
      const open: OpenSession[] = [];
      for await (const [, session] of openSessionsOf(pool, seal, userId)) {
        open.push(session);
        if (open.length === SHOWN_MAX) break;
      }
      return open.toSorted(byLastSeen);
    },
    async note(uid, visit) {
      const row = await selectByUid(pool, seal.hash(`${KIND} other`, uid));
      if (row === undefined) return;
      await pool.query(
        `update auth.record set sealed = $3 where kind = '${KIND}' and id_hash = $1 and sealed = $2 and ended_at is null`,
        [row.idHash, row.sealed, seal.seal(KIND, row.idHash, { ...keptIn(seal, row), seen: visit })],
      );
    },
  };
};

const sessionOf = ({ uid, loginTs, iat, seen, authorizations }: Kept): OpenSession => ({
  uid,
  // After a sign-in elsewhere, `loginTs` is the time of that one, which may be older than the session.
  signedInAtS: Math.max(loginTs ?? 0, iat ?? 0),
  seen,
  consoleGrant: authorizations?.[CONSOLE]?.grantId,
});

const byLastSeen = (one: OpenSession, other: OpenSession): number => lastSeenS(other) - lastSeenS(one);

const lastSeenS = ({ seen, signedInAtS }: OpenSession): number => seen?.atS ?? signedInAtS;

const keptIn = (seal: RecordSeal, { idHash, sealed }: Row): Kept =>
  seal.unseal(KIND, idHash, sealed) as unknown as Kept;

/** Every open session with its key, however many there are. */
export async function* openSessionsOf(
  database: Pick<Pool, 'query'>,
  seal: RecordSeal,
  userId: UserId,
): AsyncGenerator<readonly [idHash: Buffer, session: OpenSession]> {
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    const rows = await selectOpen(database, userId, after);
    for (const row of rows) yield [row.idHash, sessionOf(keptIn(seal, row))];
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.idHash;
  }
}

const selectOpen = async (
  database: Pick<Pool, 'query'>,
  userId: UserId,
  after: Buffer,
): Promise<readonly Row[]> => {
  const { rows } = await database.query<Row>(
    `select id_hash as "idHash", sealed from auth.record
     where account_id = $1 and kind = '${KIND}' and ended_at is null and expires_at > now() and id_hash > $2
     order by id_hash limit ${PAGE}`,
    [String(userId), after],
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
