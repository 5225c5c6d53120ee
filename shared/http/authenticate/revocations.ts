import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';

/** One token, all tokens of a grant, or those issued so far to a client or for a user. */
export type RevocationKind = 'jti' | 'grant' | 'client' | 'user';

/** What is known of a token that may have been revoked. */
export type Revocable = {
  readonly jti: string;
  readonly grantId: string | undefined;
  readonly clientId: string;
  readonly userId: number;
  readonly issuedAtS: number;
};

/** What has been revoked, as of at most `staleMs` ago. */
export type Revocations = {
  isRevoked(token: Revocable): boolean;
  readonly staleMs: () => number;
};

/** Who revoked tokens belong to: one user, or anybody. */
export type RevocationListener = (userId: number | undefined) => void;

/** What a process may add to the revocations that it knows, and how it hears of new ones. */
export type RevocationNews = {
  /**
   * Refuses the tokens of a user that were issued up to a time, in this process. Whoever finds a changed role in the log calls it;
   * the authorization server stores the same revocation when it reads that event.
   */
  revokeUser(userId: number, at: Date): void;
  /** Calls the listener, in the same turn, whenever tokens are revoked. */
  onRevoked(listener: RevocationListener): Disposable;
};

/** No token lives longer; what is revoked can be forgotten after this and the tolerance of clocks. */
export const ACCESS_TOKEN_LIFETIME_S = 300;
const RETENTION_S = 2 * ACCESS_TOKEN_LIFETIME_S;
const REFRESH_MS = 1_000;
/** How far the clocks of two authorization servers may differ, and how long one of them may go by what it read before. */
const SKEW_S = 1;
/** After this, tokens that are issued to a revoked client or user are good again: none of them looks older than the revocation. */
export const REVOCATION_SETTLES_MS = (SKEW_S + 1) * 1_000;
/** A revocation that commits late has an earlier time than one already seen; no transaction of ours lasts longer than this. */
const OVERLAP_S = 60;

export const migrateRevocations = (pool: Pool): Promise<void> => migrate(pool, 'revocations', new URL('./migrations/', import.meta.url));

/** Revokes in the caller's transaction, or at once. Every resource server refuses it within `REFRESH_MS` and a little. */
export const revoke = async (database: Pick<Pool, 'query'>, kind: RevocationKind, value: string): Promise<void> => {
  await database.query(
    `insert into auth.revoked as known (kind, value, expires_at) values ($1, $2, clock_timestamp() + $3 * interval '1 second')
     on conflict (kind, value) do update set revoked_at = clock_timestamp(), expires_at = excluded.expires_at`,
    [kind, value, RETENTION_S],
  );
};

type Row = { readonly kind: RevocationKind; readonly value: string; readonly revoked_at: Date; readonly expires_at: Date };
type Entry = { readonly revokedAtS: number; readonly expiresAtMs: number };

/**
 * Keeps what is revoked in memory, read again every second. The first read must succeed; later ones may fail for a while,
 * and how long that has been is for the caller to judge.
 */
export const followRevocations = async ({
  pool,
  log,
}: {
  pool: Pool;
  log: Log;
}): Promise<Revocations & RevocationNews & AsyncDisposable> => {
  const entries = new Map<string, Entry>();
  const listeners = new Set<RevocationListener>();
  const tell: RevocationListener = (userId) => {
    for (const listener of listeners) listener(userId);
  };
  /** Returns whether it refuses more than before. */
  const add = (key: string, { revokedAtS, expiresAtMs }: Entry): boolean => {
    const known = entries.get(key);
    if (known !== undefined && known.revokedAtS >= revokedAtS) return false;
    entries.set(key, { revokedAtS, expiresAtMs });
    return true;
  };
  let newest = new Date(0);
  let readAtMs = 0;
  const refresh = async (): Promise<void> => {
    const askedAtMs = performance.now();
    let hasNews = false;
    for (const row of await read(pool, newest)) {
      const entry = { revokedAtS: secondOf(row.revoked_at), expiresAtMs: row.expires_at.getTime() };
      hasNews = add(keyOf(row.kind, row.value), entry) || hasNews;
      if (row.revoked_at > newest) newest = row.revoked_at;
    }
    for (const [key, { expiresAtMs }] of entries) if (expiresAtMs < Date.now()) entries.delete(key);
    readAtMs = askedAtMs;
    if (hasNews) tell(undefined);
  };
  await refresh();
  const stopping = new AbortController();
  const following = repeat(refresh, stopping.signal, (err) => log.warn({ err }, 'The revocations could not be read.'));
  return {
    isRevoked: (token) => isRevoked(entries, token),
    staleMs: () => performance.now() - readAtMs,
    revokeUser(userId, at) {
      const entry = { revokedAtS: secondOf(at), expiresAtMs: at.getTime() + RETENTION_S * 1_000 };
      if (entry.expiresAtMs > Date.now() && add(keyOf('user', String(userId)), entry)) tell(userId);
    },
    onRevoked(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await following;
    },
  };
};

const secondOf = (time: Date): number => Math.floor(time.getTime() / 1_000);

const keyOf = (kind: RevocationKind, value: string): string => `${kind} ${value}`;

const isRevoked = (entries: ReadonlyMap<string, Entry>, { jti, grantId, clientId, userId, issuedAtS }: Revocable): boolean => {
  if (entries.size === 0) return false;
  if (entries.has(keyOf('jti', jti))) return true;
  if (grantId !== undefined && entries.has(keyOf('grant', grantId))) return true;
  return isSince(entries.get(keyOf('client', clientId)), issuedAtS) || isSince(entries.get(keyOf('user', String(userId))), issuedAtS);
};

/** Tokens say the second of their issue only, so those of the very second are refused as well. */
const isSince = (entry: Entry | undefined, issuedAtS: number): boolean => entry !== undefined && issuedAtS <= entry.revokedAtS + SKEW_S;

/** What came since the newest that is known. Once the database's clock was set back, what comes is older than that. */
const read = async (pool: Pool, newest: Date): Promise<readonly Row[]> => {
  const { rows } = await pool.query<Row>(
    `select kind, value, revoked_at, expires_at from auth.revoked
     where revoked_at > least($1::timestamptz, now()) - $2 * interval '1 second' and expires_at > now()`,
    [newest, OVERLAP_S],
  );
  return rows;
};

/** One failure in a row is told, not each. */
const repeat = async (work: () => Promise<void>, signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> => {
  let isFailing = false;
  while (!signal.aborted) {
    await delay(REFRESH_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing && !signal.aborted) onFailure(error);
      isFailing = true;
    }
  }
};
