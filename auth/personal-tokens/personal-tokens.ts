import { randomBytes } from 'node:crypto';
import { digestOfToken, newPersonalToken } from '#edge/authenticate/personal-token.ts';
import { PERSONAL_TOKENS } from '#edge/authenticate/personal-tokens.ts';
import { revoke } from '#edge/authenticate/revocations.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { KeyStore, PersonKey } from '#shared/keys/key-store.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import { type Policy, personalTokenClient, scopeOf } from '#shared/policy.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { lockPerson } from '../persons/person-table.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';
import type { SettleResult } from '../storage/keyed-writes.ts';
import {
  deletePersonalTokensOf,
  insertToken,
  selectTokensOf,
  type TokenRow,
} from '../storage/token-table.ts';

/** A personal access token as its owner sees it: without the secret. */
export type PersonalToken = Pick<TokenRow, 'id' | 'scopes' | 'madeAt' | 'expiresAt' | 'usedAt'> & {
  readonly name: string;
};

type Wanted = Pick<PersonalToken, 'name' | 'scopes' | 'expiresAt'>;

export type MadeToken = { readonly made: PersonalToken; readonly secret: string };

/** Tokens with which scripts act for people. `settle` is called in the transaction of a write. */
export type OwnTokens = {
  /** The newest first, including recently expired ones. */
  of(userId: UserId): Promise<readonly PersonalToken[]>;
  /** Only this result contains the secret. Undefined if the person has too many. */
  make(
    userId: UserId,
    wanted: Wanted,
    by: SecurityContext,
    settle?: SettleResult<MadeToken>,
  ): Promise<MadeToken | undefined>;
  /**
   * Ends the named tokens, or all; every resource server refuses them within seconds. Returns those that
   * there were.
   */
  revoke(
    userId: UserId,
    ids: readonly string[] | 'all',
    by: SecurityContext,
    settle?: SettleResult<readonly string[]>,
  ): Promise<readonly string[]>;
};

type Dependencies = {
  readonly pool: Pool;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly rowProofs: Pick<RowProofs, 'of'>;
  readonly record: RecordSecurityEvent;
};

const ID_BYTES = 9;
const DAY_MS = 86_400_000;
export const LIFETIME_DAYS_MAX = 365;

/** By the clock that decides whether a token has expired. */
export const daysFromNow = (clock: Pick<Clock, 'nowMs'>, days: number): Date =>
  new Date(clock.nowMs() + days * DAY_MS);

/**
 * The scopes that are useful in a token of this role: it never exceeds the role, and cannot manage tokens.
 */
export const tokenScopesOf = (policy: Policy, role: Role): readonly string[] => {
  const useful = new Set(
    [...policy.rights.values()].flatMap(({ scope, byRole }) =>
      (byRole.get(role)?.size ?? 0) > 0 ? [scope] : [],
    ),
  );
  useful.delete(scopeOf(policy, 'token.manage'));
  return policy.scopes.filter((scope) => useful.has(scope));
};

export const createOwnTokens = ({ pool, keys, rowProofs, record }: Dependencies): OwnTokens => ({
  of: (userId) => tokensOf({ pool, keys }, userId),
  async make(userId, { name, scopes, expiresAt }, by, settle) {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const secret = newPersonalToken();
    const key = await keys.obtain(userId);
    const token = { id, userId, scopes, expiresAt, digest: Buffer.from(digestOfToken(secret), 'base64url') };
    const made = await inTransaction(pool, async (connection) => {
      await lockPerson(connection, userId);
      const sealed = seal(key, Buffer.from(name), bindingOf(userId, id));
      const proof = rowProofs.of(PERSONAL_TOKENS, { ...token, sealed });
      const row = await insertToken(connection, { ...token, sealed, proof });
      if (row === undefined) return undefined;
      const inserted = { made: shownOf(key, row), secret };
      await settle?.(connection, inserted);
      return inserted;
    });
    if (made === undefined) return undefined;
    const data = { userId, tokenId: id, scopes, expiresAt: expiresAt.toISOString() };
    await record({ type: 'account.token_created', data }, by);
    return made;
  },
  async revoke(userId, ids, by, settle) {
    const revoked = await inTransaction(pool, async (connection) => {
      const deleted = await deletePersonalTokensOf(connection, userId, ids === 'all' ? undefined : ids);
      for (const id of deleted) await revoke(connection, 'jti', personalTokenClient(id));
      await settle?.(connection, deleted);
      return deleted;
    });
    for (const tokenId of revoked)
      await record({ type: 'account.token_revoked', data: { userId, tokenId } }, by);
    return revoked;
  },
});

export const tokensOf = async (
  { pool, keys }: Pick<Dependencies, 'pool' | 'keys'>,
  userId: UserId,
): Promise<readonly PersonalToken[]> => {
  // Also those without a proof: they count against the limit, and their owner revokes them.
  const rows = await selectTokensOf(pool, userId);
  const key = rows.length === 0 ? undefined : (await keys.find([userId])).get(userId);
  return key === undefined || key === 'destroyed' ? [] : rows.map((row) => shownOf(key, row));
};

const shownOf = (key: PersonKey, { userId, sealed, ...row }: TokenRow): PersonalToken => ({
  ...row,
  name: nameIn(key, sealed, bindingOf(userId, row.id)),
});

/** SQL may have changed it. */
const nameIn = (key: PersonKey, sealed: Buffer, binding: string): string => {
  try {
    return unseal(key, sealed, binding).toString('utf8');
  } catch {
    return '(unreadable)';
  }
};

const bindingOf = (userId: UserId, id: string): string => `personal token:${userId}:${id}`;
