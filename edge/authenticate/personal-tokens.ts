// Over 200 lines, because it is one thing: how a personal access token is found, checked and remembered.
import { LRUCache } from 'lru-cache';
import type { UserId, Version } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { endOfAccessMs, isAuditorRole, rolesOf } from '#kernel/registry/roles.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { CheckPerson } from '#shared/persons/check-person.ts';
import { type Policy, personalTokenClient } from '#shared/policy.ts';
import type { ReadAttributes } from '#shared/read-attributes.ts';
import {
  type GrantingTable,
  type Proven,
  provenColumns,
  type RowProofs,
} from '#shared/row-proofs/row-proofs.ts';
import { type AccessToken, demandNotEnded, InvalidToken } from './access-token.ts';
import { digestOfToken, isPersonalToken } from './personal-token.ts';
import { REVOKED_AT, type Revocations } from './revocations.ts';

/** Finds the present rights of a personal access token. */
export type PersonalTokens = { find(token: string, digest: string): Promise<AccessToken> };

type Dependencies = {
  readonly pool: Pool;
  readonly policy: Policy;
  readonly revocations: Revocations;
  readonly readAttributes: ReadAttributes;
  readonly checkPerson: CheckPerson;
  readonly rowProofs: Pick<RowProofs, 'check'>;
  readonly log: Log;
  readonly clock: Clock;
};

const CACHED_MAX = 10_000;
/**
 * The feed of revocations ends a token within a second. This limits how long it still counts if the feed has
 * missed something.
 */
const CACHED_MS = 60_000;
/** A change of the role is in the log before the directory of the authorization server has it. */
const ATTEMPTS_MAX = 10;
const PAUSE_MS = 100;

/**
 * Caches a token by its digest for a minute, so requests rarely cost a statement. A revocation of the user’s
 * tokens drops it too; the next read then has the user’s present role.
 */
export const createPersonalTokens = (dependencies: Dependencies): PersonalTokens => {
  const { revocations, clock } = dependencies;
  const known = new LRUCache<string, AccessToken>({ max: CACHED_MAX, ttl: CACHED_MS });
  const read = createRead(dependencies);
  const current = async (digest: string): Promise<AccessToken> => {
    const token = known.get(digest);
    if (token !== undefined && !revocations.isRevoked(token)) return token;
    known.delete(digest);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (attempt > 0) await clock.sleep(PAUSE_MS);
      const found = await read(digest);
      if (revocations.isRevoked(found)) continue;
      known.set(digest, found);
      return found;
    }
    throw new HttpProblem('unavailable', { headers: { 'Retry-After': '1' } });
  };
  return {
    async find(token, digest) {
      if (!isPersonalToken(token))
        throw new InvalidToken('This is not an access token of this installation.');
      const found = await current(digest);
      if (clock.nowMs() / MS_PER_SECOND >= found.expiresAtS) throw new InvalidToken('The token has expired.');
      demandNotEnded(found);
      return found;
    },
  };
};

const MS_PER_SECOND = 1_000;

/** The part of a token’s row that lets somebody act. */
export type GrantingToken = {
  readonly id: string;
  readonly userId: UserId;
  readonly digest: Buffer;
  readonly sealed: Buffer;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
};

export const PERSONAL_TOKENS: GrantingTable<GrantingToken> = {
  name: 'auth.personal_token',
  key: 'id',
  keyType: 'text',
  columns: {
    ...{ id: 'id', userId: 'user_id', digest: 'digest', sealed: 'sealed', scopes: 'scopes' },
    expiresAt: 'expires_at',
  },
};

type Row = GrantingToken &
  Proven & {
    readonly madeAtS: number;
    readonly expiresAtS: number;
    readonly isUseNoted: boolean;
    readonly role: Role;
    readonly version: Version;
    readonly seen: number | null;
  };

const createRead = (dependencies: Dependencies) => {
  const { pool, policy, readAttributes, log } = dependencies;
  const rowOf = coalesce<string, Row>((digests) => selectTokens(pool, digests));
  const roles = rolesOf(policy.domain);
  return async (digest: string): Promise<AccessToken> => {
    const row = await rowOf(digest);
    const role = row && (await roleOf(dependencies, row));
    if (row === undefined || role === undefined || !roles.includes(role))
      throw new InvalidToken('The token was revoked, or was not issued here.');
    // Read after the version, so that later changes are noticed.
    const attributes = await readAttributes(row.userId);
    if (!row.isUseNoted)
      void noteUse(pool, digest).catch((err: unknown) =>
        log.warn({ err }, 'The use of a token could not be recorded.'),
      );
    return accessTokenOf(policy, { ...row, role }, attributes);
  };
};

/** Undefined if the token, or its user, was not written by us. */
const roleOf = async (
  { rowProofs, checkPerson }: Pick<Dependencies, 'rowProofs' | 'checkPerson'>,
  row: Row,
): Promise<Role | undefined> =>
  (await rowProofs.check(PERSONAL_TOKENS, row)) ? (await checkPerson(row))?.role : undefined;

const accessTokenOf = (
  policy: Policy,
  row: Row,
  attributes: Awaited<ReturnType<ReadAttributes>>,
): AccessToken => {
  const { id, userId, role } = row;
  const client = personalTokenClient(id);
  const scopes = new Set(scopesOf(policy, row));
  return {
    caller: {
      kind: 'user',
      policy,
      userId,
      role,
      scopes,
      client,
      ...(attributes !== undefined && { attributes }),
    },
    userId,
    clientId: client,
    jti: client,
    grantId: undefined,
    issuedAtS: row.madeAtS,
    seen: { user: row.seen ?? 0, client: 0 },
    userVersion: row.version,
    notBeforeS: 0,
    expiresAtS: row.expiresAtS,
    endsAtMs: endOfAccessMs(policy.domain, { role, attributes }),
    signedInAtS: undefined,
    isMultiFactor: false,
    kid: '',
    bound: {},
  };
};

/** The interval at which uses are written. */
const NOTED_EVERY = `interval '10 minutes'`;

/**
 * One statement reads the token, its user and their revocations from one snapshot. A change of the role
 * revokes the user’s tokens in the same transaction, so either the role is new, or the revocation is newer
 * than the one in `seen`.
 */
const selectTokens = async (pool: Pool, digests: readonly string[]): Promise<ReadonlyMap<string, Row>> => {
  const { rows } = await pool.query<Row>({
    name: 'auth-personal-tokens',
    text: `select ${provenColumns(PERSONAL_TOKENS)},
             extract(epoch from made_at)::float8 as "madeAtS", extract(epoch from expires_at)::float8 as "expiresAtS",
             coalesce(used_at > now() - ${NOTED_EVERY}, false) as "isUseNoted",
             role, version,
             (select ${REVOKED_AT} from auth.revoked where kind = 'user' and value = user_id::text) as seen
           from auth.personal_token join auth.person using (user_id)
           where digest = any ($1::bytea[]) and status = 'active' and deactivated_at is null`,
    values: [digests.map((digest) => Buffer.from(digest, 'base64url'))],
  });
  return new Map(rows.map((row) => [row.digest.toString('base64url'), row]));
};

/** The domain may have lost one since the token was created. */
const scopesOf = (policy: Policy, { scopes }: Pick<Row, 'scopes'>): readonly string[] =>
  scopes.filter((scope) => policy.scopes.includes(scope));

/** The facts that the authorization server states about a valid token. */
export type PersonalTokenNow = Pick<Row, 'userId' | 'role' | 'scopes' | 'expiresAtS'> & {
  /** As in `client` of events. */
  readonly id: string;
  readonly issuedAtS: number;
};

/** From the database, so that a revoked token is invalid at once. It does not count as a use. */
export const readPersonalToken = async (
  {
    pool,
    policy,
    readAttributes,
    ...checking
  }: Pick<Dependencies, 'pool' | 'policy' | 'checkPerson' | 'rowProofs' | 'readAttributes'>,
  token: string,
): Promise<PersonalTokenNow | undefined> => {
  if (!isPersonalToken(token)) return undefined;
  const digest = digestOfToken(token);
  const row = (await selectTokens(pool, [digest])).get(digest);
  const role = row && (await roleOf(checking, row));
  if (row === undefined || role === undefined || !rolesOf(policy.domain).includes(role)) return undefined;
  const { id, userId, madeAtS, expiresAtS } = row;
  const attributes = isAuditorRole(policy.domain, role) ? await readAttributes(userId) : undefined;
  const endsAtMs = endOfAccessMs(policy.domain, { role, attributes }) ?? Number.POSITIVE_INFINITY;
  if (Date.now() >= Math.min(expiresAtS * MS_PER_SECOND, endsAtMs)) return undefined;
  return {
    ...{ userId, role, expiresAtS },
    id: personalTokenClient(id),
    issuedAtS: madeAtS,
    scopes: scopesOf(policy, row),
  };
};

const noteUse = async (pool: Pool, digest: string): Promise<void> => {
  await pool.query(
    `update auth.personal_token set used_at = now() where digest = $1 and (used_at is null or used_at < now() - ${NOTED_EVERY})`,
    [Buffer.from(digest, 'base64url')],
  );
};
