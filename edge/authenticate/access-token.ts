// Over 200 lines, because it is one thing: the verification of an access token, and its content.

import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import type { UserId } from '#kernel/base/brands.ts';
import { attributes, roleName, SCOPES_MAX, userId, version } from '#kernel/base/events/fields.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { token } from '#kernel/base/values.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Attributes } from '#kernel/conditions/holds.ts';
import { endOfAccessMs, rolesOf } from '#kernel/registry/roles.ts';
import { asksForPersons } from '#kernel/registry/signed.ts';
import { agentClient, type Caller, type Policy } from '#shared/policy.ts';
import type { VerificationKeys } from './keys.ts';
import type { Revocable } from './revocations.ts';

/** The content of a verified access token: its signature, issuer, audience and form are valid. */
export type AccessToken = Revocable & {
  readonly caller: Extract<Caller, { kind: 'user' }>;
  readonly notBeforeS: number;
  readonly expiresAtS: number;
  /** When the access of its user ends, whatever the token says: that of an auditor. */
  readonly endsAtMs?: number | undefined;
  /** When its user signed in; absent from tokens of services and of a former release. */
  readonly signedInAtS: number | undefined;
  /** Whether they showed more than their password alone (RFC 8176, `mfa`). */
  readonly isMultiFactor: boolean;
  readonly kid: string;
  /** The key or certificate that the caller must prove to hold, beside the token. */
  readonly bound: { readonly jkt?: string | undefined; readonly 'x5t#S256'?: string | undefined };
};

/** Whether it has expired, or the access of its user has ended; without a tolerance for clocks. */
export const isOver = ({ expiresAtS, endsAtMs = Number.POSITIVE_INFINITY }: AccessToken): boolean =>
  Date.now() >= Math.min(expiresAtS * MS_PER_SECOND, endsAtMs);

export const demandNotEnded = ({ endsAtMs = Number.POSITIVE_INFINITY }: AccessToken): void => {
  if (Date.now() >= endsAtMs) throw new InvalidToken('The access of this auditor has ended.');
};

/** The reason why a token is invalid; clients may see its message. */
export class InvalidToken extends Error {
  readonly code = 'invalid_token';
}

const ALGORITHM = 'ES256';
const CLOCK_TOLERANCE_S = 5;
const MS_PER_SECOND = 1_000;
const CACHED_MAX = 20_000;

const thumbprint = z.string().regex(/^[\w-]{43}$/);

/** RFC 9068, section 2.2. An unknown kind of binding could not be checked, so it is refused. */
const Claims = z.object({
  sub: z
    .string()
    .regex(/^[1-9]\d{0,15}$/)
    .transform(Number)
    .pipe(userId),
  client_id: token,
  jti: token,
  iat: z.number(),
  nbf: z.number().default(0),
  exp: z.number(),
  scope: z
    .string()
    .default('')
    .transform((text) => text.split(' ').filter(Boolean))
    .pipe(z.array(z.string()).max(SCOPES_MAX)),
  auth_time: z.number().optional(),
  amr: z.array(z.string()).optional(),
  role: roleName,
  attributes: attributes.optional(),
  grant_id: token.optional(),
  act: z.strictObject({ sub: token, act: z.strictObject({ sub: token }) }).optional(),
  agent: z.boolean().default(false),
  revocations_seen: z
    .object({ user: z.number(), client: z.number(), application: z.number().optional() })
    .optional(),
  user_version: version.optional(),
  cnf: z.strictObject({ jkt: thumbprint.optional(), 'x5t#S256': thumbprint.optional() }).default({}),
});

type Options = {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: VerificationKeys;
  readonly policy: Policy;
};

type TokenVerifier = {
  /** Returns a token that was verified before, unless its key is gone; throws if it has expired. */
  known(digest: string): AccessToken | undefined;
  verify(jwt: string, digest: string): Promise<AccessToken>;
};

/**
 * Verifies access tokens. Caches each by its digest until it expires or its key goes, so that its signature
 * is checked once and not at every request. The caller checks the rest, such as revocation, each time.
 */
export const createTokenVerifier = (options: Options): TokenVerifier => {
  const verified = new LRUCache<string, AccessToken>({ max: CACHED_MAX });
  const demandInTime = (token: AccessToken, digest: string): AccessToken => {
    const nowS = Date.now() / 1_000;
    if (nowS >= token.expiresAtS + CLOCK_TOLERANCE_S) {
      verified.delete(digest);
      throw new InvalidToken('The token has expired.');
    }
    if (nowS < token.notBeforeS - CLOCK_TOLERANCE_S || nowS < token.issuedAtS - CLOCK_TOLERANCE_S)
      throw new InvalidToken('The token is not valid yet.');
    demandNotEnded(token);
    return token;
  };
  return {
    known(digest) {
      const token = verified.get(digest);
      return token === undefined || !options.keys.has(token.kid) ? undefined : demandInTime(token, digest);
    },
    async verify(jwt, digest) {
      const token = await verify(jwt, options);
      verified.set(digest, token);
      return demandInTime(token, digest);
    },
  };
};

const verify = async (jwt: string, { issuer, audience, keys, policy }: Options): Promise<AccessToken> => {
  let kid = '';
  const findKey = async (header: { kid?: string }) => {
    kid = header.kid ?? '';
    const key = await keys.find(kid);
    if (key === undefined) throw new InvalidToken('The token is signed by an unknown key.');
    return key;
  };
  try {
    const { payload } = await jwtVerify(jwt, findKey, {
      issuer,
      audience,
      algorithms: [ALGORITHM],
      typ: 'at+jwt',
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['iss', 'aud', 'sub', 'exp', 'iat', 'jti', 'client_id'],
    });
    const claims = Claims.parse(payload);
    if (!rolesOf(policy.domain).includes(claims.role))
      throw new InvalidToken('The token has an unknown role.');
    return accessTokenOf(claims, kid, policy);
  } catch (error) {
    if (error instanceof InvalidToken || error instanceof HttpProblem) throw error;
    throw new InvalidToken(reasonOf(error), { cause: error });
  }
};

const accessTokenOf = (claims: z.infer<typeof Claims>, kid: string, policy: Policy): AccessToken => ({
  caller: {
    kind: 'user',
    policy,
    userId: claims.sub satisfies UserId,
    role: claims.role,
    scopes: scopesOf(claims.scope),
    client: claims.act === undefined ? claims.client_id : agentClient(claims.act),
    ...attributesIn(claims, policy),
    ...byIn(claims, policy),
  },
  userId: claims.sub,
  clientId: claims.client_id,
  application: claims.act?.act.sub,
  jti: claims.jti,
  grantId: claims.grant_id,
  issuedAtS: claims.iat,
  seen: claims.revocations_seen,
  userVersion: claims.user_version,
  notBeforeS: claims.nbf,
  expiresAtS: claims.exp,
  endsAtMs: endOfAccessMs(policy.domain, claims),
  signedInAtS: claims.auth_time,
  isMultiFactor: claims.amr?.includes('mfa') === true,
  kid,
  bound: claims.cnf,
});

/** Whether an agent or a service sends it, for domains that ask for it. */
const byIn = (
  { agent, act, auth_time: signedInAtS }: z.infer<typeof Claims>,
  { domain }: Policy,
): { readonly by?: 'agent' | 'service' } => {
  // Agents with `act` are in the name of the client.
  if (act !== undefined || !asksForPersons(domain)) return {};
  if (agent) return { by: 'agent' };
  // A sign-in has a time.
  return signedInAtS === undefined ? { by: 'service' } : {};
};

/** Only the attributes that rights compare. A token issued before there were such rights has none. */
const attributesIn = (
  { attributes: own }: z.infer<typeof Claims>,
  { domain }: Policy,
): { readonly attributes?: Attributes } => {
  const asked = attributesOf(domain);
  if (asked.length === 0) return {};
  if (own === undefined || asked.some(({ name }) => own[name] === undefined))
    throw new InvalidToken('The token lacks attributes of its user that rights compare.');
  return { attributes: Object.fromEntries(asked.map(({ name }) => [name, own[name] ?? null])) };
};

/** Most tokens share their set of scopes with many others. */
const scopesOf = (scopes: readonly string[]): ReadonlySet<string> => {
  const key = scopes.join(' ');
  const known = scopeSets.get(key) ?? new Set(scopes);
  scopeSets.set(key, known);
  return known;
};

const SCOPE_SETS_MAX = 1_000;
const scopeSets = new LRUCache<string, ReadonlySet<string>>({ max: SCOPE_SETS_MAX });

/** Informs a confused client which check failed, without helping a forger. */
const reasonOf = (error: unknown): string => {
  const { code, claim } = error as { code?: unknown; claim?: unknown };
  if (code === 'ERR_JWT_EXPIRED') return 'The token has expired.';
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && claim === 'aud')
    return 'The token is for another audience.';
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && claim === 'iss')
    return 'The token is from another issuer.';
  return 'This is not an access token of this installation.';
};
