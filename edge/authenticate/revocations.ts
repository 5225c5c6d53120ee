import type { Version } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** One token, all tokens of a grant, or those issued so far to a client or for a user. */
export type RevocationKind = 'jti' | 'grant' | 'client' | 'user';

/** The properties of a token by which it can be revoked. */
export type Revocable = {
  readonly jti: string;
  readonly grantId: string | undefined;
  readonly clientId: string;
  /** The application from which the client, an agent, has its rights; it ends with the tokens of both. */
  readonly application?: string | undefined;
  readonly userId: number;
  readonly issuedAtS: number;
  readonly seen: SeenRevocations | undefined;
  /** The version of the user’s stream at which their role was read. */
  readonly userVersion: Version | undefined;
};

/**
 * The times of the last revocations of its user and its clients before the token was issued, in microseconds
 * of the database; zero if there was none recently. They grow with each revocation of the same user or
 * client, whatever a clock says.
 */
export type SeenRevocations = {
  readonly user: number;
  readonly client: number;
  readonly application?: number | undefined;
};

/**
 * A change of a user’s role, or their deletion, as in the log: no other event has that version in their
 * stream.
 */
export type UserChange = { readonly version: Version; readonly at: Date };

/** All revocations, as of at most `staleMs` ago. */
export type Revocations = {
  /** Optionally includes a change of its user that is known from elsewhere. */
  isRevoked(token: Revocable, change?: UserChange): boolean;
  readonly staleMs: () => number;
};

/** Called with the user whose tokens were revoked, or with undefined if any user may be affected. */
export type RevocationListener = (userId: number | undefined) => void;

/** Adds revocations to those known in this process, and notifies of new ones. */
export type RevocationNews = {
  /**
   * Refuses the tokens of a user that were issued before a change, in this process. Its caller found the
   * change in the log; the authorization server stores the revocation when it reads the same event.
   */
  revokeUser(userId: number, change: UserChange): void;
  /** Calls the listener, in the same turn, whenever tokens are revoked. */
  onRevoked(listener: RevocationListener): Disposable;
};

/** No token lives longer; a revocation can be forgotten after this and the tolerance for clocks. */
export const ACCESS_TOKEN_LIFETIME_S = 300;
export const RETENTION_S = 2 * ACCESS_TOKEN_LIFETIME_S;

export const migrateRevocations = (pool: Pool): Promise<void> =>
  migrate(pool, 'revocations', new URL('./migrations/', import.meta.url));

/**
 * Revokes in the caller’s transaction, or immediately. Every resource server refuses the tokens within
 * `REFRESH_MS` and a little.
 */
export const revoke = async (
  database: Pick<Pool, 'query'>,
  kind: RevocationKind,
  value: string,
): Promise<void> => {
  await database.query(
    `insert into auth.revoked as known (kind, value, expires_at) values ($1, $2, clock_timestamp() + $3 * interval '1 second')
     on conflict (kind, value) do update
       set revoked_at = greatest(clock_timestamp(), known.revoked_at + interval '1 microsecond'), expires_at = excluded.expires_at`,
    [kind, value, RETENTION_S],
  );
};

/** In microseconds since 1970, which a number holds exactly. */
export const REVOKED_AT = '(extract(epoch from revoked_at) * 1000000)::float8';
