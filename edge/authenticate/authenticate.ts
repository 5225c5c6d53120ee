import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { asksForPersons } from '#kernel/registry/signed.ts';
import { type Caller, NO_RIGHTS, type Policy } from '#shared/policy.ts';
import { whenAsked } from '#shared/when-asked.ts';
import { rememberChallenge } from '../http/challenge.ts';
import { clientCertificateOf } from '../http/client-certificate.ts';
import { requestFact } from '../http/request-fact.ts';
import { TokenRefusal } from '../http/token-refusal.ts';
import { type AccessToken, createTokenVerifier, InvalidToken, isOver } from './access-token.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import { InvalidProof } from './invalid-proof.ts';
import type { VerificationKeys } from './keys.ts';
import { PERSONAL_TOKEN_PREFIX } from './personal-token.ts';
import type { PersonalTokens } from './personal-tokens.ts';
import type { Revocations, UserChange } from './revocations.ts';
import type { SpentProofs } from './spent-proofs.ts';

export type AuthenticateOptions = {
  readonly issuer: string;
  /** The resource’s own URL: the required `aud`, and the base of the URLs in DPoP proofs. */
  readonly audience: string;
  readonly keys: VerificationKeys;
  readonly revocations: Revocations;
  readonly spentProofs: SpentProofs;
  readonly personalTokens: PersonalTokens;
  readonly policy: Policy;
  /** Proves that a certificate in a header comes from the proxy in front. */
  readonly ingressSecret: string | undefined;
  /** Paths with their own token check, such as `/userinfo`. */
  readonly elsewhere?: ReadonlySet<string>;
};

/** If the database is unreachable, revocations of this age are still trusted. */
const REVOCATIONS_STALE_MAX_MS = 60_000;

const accessTokens = requestFact<AccessToken>('access token');
const anonymous = requestFact<Caller>('anonymous caller');
/** For requests that did not pass `authenticate`. */
const NOBODY: Caller = { kind: 'anonymous', policy: NO_RIGHTS };

/** The caller of a request that has passed `authenticate`; anonymous before that. */
export const callerOf = (request: IncomingMessage): Caller =>
  accessTokens.of(request)?.caller ?? anonymous.of(request) ?? NOBODY;

/** For a request of a tool within the process, as the caller of another one, whose token was checked. */
export const actAsCallerOf = (inner: IncomingMessage, outer: IncomingMessage): void => {
  const token = accessTokens.of(outer);
  if (token === undefined) return;
  const { caller } = token;
  const asks = asksForPersons(caller.policy.domain);
  accessTokens.set(inner, asks ? { ...token, caller: { ...caller, by: 'tool' as const } } : token);
};

/**
 * How the user of a request that has passed `authenticate` signed in, and when; undefined if its token does
 * not state it.
 */
export const signInOf = (
  request: IncomingMessage,
): { readonly atS: number; readonly isMultiFactor: boolean } | undefined => {
  const { signedInAtS, isMultiFactor = false } = accessTokens.of(request) ?? {};
  return signedInAtS === undefined ? undefined : { atS: signedInAtS, isMultiFactor };
};

/**
 * The reason why an authenticated request would be refused now; long responses check this while they last.
 * The proof counted for the beginning only, and the certificate belongs to the connection.
 */
export const refusalNow = (
  request: Request,
  revocations: Revocations,
  change?: UserChange,
): TokenRefusal | HttpProblem | undefined => {
  const accessToken = accessTokens.of(request);
  if (accessToken === undefined) return undefined;
  const scheme = accessToken.bound.jkt === undefined ? 'Bearer' : 'DPoP';
  if (isOver(accessToken)) return new TokenRefusal('invalid_token', 'The token has expired.', { scheme });
  if (isStale(revocations)) return staleRevocations();
  return revocations.isRevoked(accessToken, change)
    ? new TokenRefusal('invalid_token', REVOKED, { scheme })
    : undefined;
};

/**
 * Identifies the caller, and refuses invalid credentials. A request without a token is anonymous; the policy
 * decides whether that suffices.
 */
export const authenticate = (options: AuthenticateOptions): RequestHandler => {
  const { elsewhere = new Set(), policy } = options;
  const nobody: Caller = { kind: 'anonymous', policy };
  const metadataUrl = metadataUrlOf(options.audience);
  const identify = createIdentifier(options);
  const challenges = {
    none: { metadataUrl, scheme: undefined },
    Bearer: { metadataUrl, scheme: 'Bearer' },
    DPoP: { metadataUrl, scheme: 'DPoP' },
  } as const;
  return async (request, _response, next) => {
    anonymous.set(request, nobody);
    if (elsewhere.has(request.path)) return next();
    rememberChallenge(request, challenges.none);
    if (accessTokens.of(request) !== undefined) return next();
    const credentials = credentialsOf(request);
    if (credentials === undefined) return next();
    rememberChallenge(request, challenges[credentials.scheme]);
    accessTokens.set(request, await identify(request, credentials));
    next();
  };
};

/** RFC 9728, section 3.1: between the host and the path of the resource. */
const metadataUrlOf = (resource: string): string => {
  const { origin, pathname } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
};

type Identify = (request: Request, credentials: Credentials) => Promise<AccessToken>;

const createIdentifier = (options: AuthenticateOptions): Identify => {
  const { revocations, personalTokens } = options;
  const verifier = createTokenVerifier(options);
  const find = (token: string, digest: string): Promise<AccessToken> =>
    token.startsWith(PERSONAL_TOKEN_PREFIX)
      ? personalTokens.find(token, digest)
      : verifier.verify(token, digest);
  const demandProof = createProofDemand(options);
  return async (request, { scheme, token, digest }) => {
    try {
      const accessToken = verifier.known(digest) ?? (await find(token, digest));
      if (isStale(revocations)) throw staleRevocations();
      if (revocations.isRevoked(accessToken)) throw new InvalidToken(REVOKED);
      demandCertificate(request, accessToken, options.ingressSecret);
      // Last, because checking a proof spends it.
      if (scheme !== 'Bearer' || accessToken.bound.jkt !== undefined)
        await demandProof(request, { accessToken, scheme, digest });
      return accessToken;
    } catch (error) {
      if (error instanceof InvalidToken || error instanceof InvalidProof)
        throw new TokenRefusal(error.code, error.message, { scheme, cause: error });
      throw error;
    }
  };
};

const isStale = (revocations: Revocations): boolean => revocations.staleMs() > REVOCATIONS_STALE_MAX_MS;

const staleRevocations = (): HttpProblem =>
  new HttpProblem('unavailable', { headers: { 'Retry-After': '5' } });

const REVOKED = 'The token was revoked.';

/** RFC 8705, section 3: the connection must have the certificate to which the token is bound. */
const demandCertificate = (
  request: Request,
  { bound }: AccessToken,
  ingressSecret: string | undefined,
): void => {
  const expected = bound['x5t#S256'];
  if (expected === undefined) return;
  const certificate = clientCertificateOf(request, ingressSecret);
  if (certificate === undefined)
    throw new InvalidToken('The token is bound to a client certificate, but the request has none.');
  const thumbprint = hash('sha256', certificate.raw, 'base64url');
  if (thumbprint !== expected) throw new InvalidToken('The token is bound to another client certificate.');
};

type Presented = {
  readonly accessToken: AccessToken;
  readonly scheme: Credentials['scheme'];
  readonly digest: string;
};

/** RFC 9449, section 7: a bound token comes with a proof and under the DPoP scheme, and any other without. */
const createProofDemand = ({ audience, spentProofs }: AuthenticateOptions) => {
  const verifier = whenAsked(async () => (await import('./dpop-proof.ts')).createProofVerifier());
  const base = audience.replace(/\/$/, '');
  return async (request: Request, { accessToken, scheme, digest }: Presented): Promise<void> => {
    const { jkt } = accessToken.bound;
    if (scheme === 'Bearer')
      throw new InvalidToken('The token is bound to a key: send it with the DPoP scheme and a proof.');
    if (jkt === undefined)
      throw new InvalidToken('The token is not bound to a key: send it with the Bearer scheme.');
    const [proof, ...others] = request.headersDistinct.dpop ?? [];
    if (proof === undefined || others.length > 0) throw new InvalidProof('Send one DPoP header.');
    const [path = ''] = request.originalUrl.split('?', 1);
    const verifyProof = await verifier();
    const { jti, expiresAtS } = await verifyProof(proof, {
      method: request.method,
      url: `${base}${path}`,
      tokenDigest: digest,
      jkt,
    });
    if (!(await spentProofs.spend({ signer: jkt, jti, expiresAtS })))
      throw new InvalidProof('The proof was used before.');
  };
};
