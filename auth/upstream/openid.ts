import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  type ServerMetadata,
} from 'openid-client';
import type { Upstream } from '#process/upstreams.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { LIFETIMES_S } from '../security/lifetimes.ts';
import { clientOf, failureOf, isPlain, TIMEOUT_S } from './client.ts';
import type { Connection, Freshness, UpstreamPerson } from './connection.ts';

type OpenId = Extract<Upstream, { kind: 'openid' }>;
type Dependencies = { readonly clock: Pick<Clock, 'elapsedMs'>; readonly log: Log };

/** OpenID Connect: the code flow with PKCE, state, nonce, and the issuer in the answer (RFC 9207). */
export const openIdConnection = (upstream: OpenId, dependencies: Dependencies): Connection => {
  const { name, label, scopes } = upstream;
  const metadata = rememberMetadata(upstream, dependencies);
  return {
    name,
    label,
    provesFreshness: true,
    async begin({ redirectUri, state, nonce, verifier }, freshness) {
      const client = clientOf(upstream, await metadata());
      const parameters = {
        scope: scopes.join(' '),
        redirect_uri: redirectUri,
        response_type: 'code',
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...freshnessIn(freshness),
      };
      try {
        return buildAuthorizationUrl(client, parameters);
      } catch (error) {
        throw failureOf(error);
      }
    },
    async finish({ redirectUri, state, nonce, verifier }, query) {
      const client = clientOf(upstream, await metadata());
      try {
        const tokens = await authorizationCodeGrant(client, new URL(`${redirectUri}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const idToken = tokens.claims();
        if (idToken === undefined) throw new Error('there is no ID token');
        // An application of several tenants would accept those of strangers, each with an issuer of its own.
        if (!isSame(idToken.iss, upstream.issuer)) throw new Error(`the issuer is ${idToken.iss}`);
        const more = hasAll(upstream, idToken)
          ? {}
          : await userInfoOf(client, tokens.access_token, idToken.sub);
        return personOf(idToken, more);
      } catch (error) {
        throw failureOf(error);
      }
    },
  };
};

/** Settings may add or omit the slash after a host. */
const isSame = (one: string, other: string): boolean => URL.parse(one)?.href === URL.parse(other)?.href;

/** Asks for a new sign-in there, or at least for the time of the last one (`auth_time`). */
const freshnessIn = (freshness: Freshness): Readonly<Record<string, string>> => {
  if (freshness === 'now') return { prompt: 'login', max_age: '0' };
  return { max_age: String(freshness === 'any' ? LIFETIMES_S.Session : freshness.maxAgeS) };
};

type Claims = Readonly<Record<string, unknown>>;

/** Whether the ID token has the address, and what the rules of accounts ask for. */
const hasAll = ({ accounts }: OpenId, idToken: Claims): boolean =>
  ['email', ...accounts.flatMap(({ claim }) => claim?.name ?? [])].every((name) =>
    Object.hasOwn(idToken, name),
  );

/** Strict providers keep the claims of scopes out of the ID token (OpenID Connect Core, section 5.4). */
const userInfoOf = async (client: Configuration, accessToken: string, sub: string): Promise<Claims> =>
  client.serverMetadata().userinfo_endpoint === undefined ? {} : fetchUserInfo(client, accessToken, sub);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

const personOf = (
  idToken: Claims & { readonly iss: string; readonly sub: string },
  more: Claims,
): UpstreamPerson => {
  const { iss, sub, auth_time: at } = idToken;
  const claims = { ...more, ...idToken };
  // One of them alone says whether its own address is verified.
  const { email, email_verified: verified } = idToken.email === undefined ? more : idToken;
  return {
    issuer: iss,
    subject: sub,
    email: textOf(email),
    isEmailVerified: verified === true,
    name: textOf(claims.name),
    claims,
    authenticatedAtS: typeof at === 'number' && at > 0 ? at : undefined,
  };
};

const FRESH_MS = 3_600_000;

/** While the provider does not answer, its last metadata count. */
const rememberMetadata = (
  upstream: OpenId,
  { clock, log }: Dependencies,
): (() => Promise<ServerMetadata>) => {
  const { issuer, clientId } = upstream;
  const execute = isPlain(upstream) ? [allowInsecureRequests] : [];
  let kept: { readonly metadata: ServerMetadata; readonly atMs: number } | undefined;
  let reading: Promise<ServerMetadata> | undefined;
  const read = async (): Promise<ServerMetadata> => {
    try {
      const found = await discovery(new URL(issuer), clientId, undefined, undefined, {
        execute,
        timeout: TIMEOUT_S,
      });
      const metadata = found.serverMetadata();
      kept = { metadata, atMs: clock.elapsedMs() };
      return metadata;
    } catch (err) {
      log.warn({ err, upstream: upstream.name }, 'The metadata of an identity provider could not be read.');
      if (kept !== undefined) return kept.metadata;
      throw failureOf(err);
    }
  };
  return async () => {
    if (kept !== undefined && clock.elapsedMs() - kept.atMs < FRESH_MS) return kept.metadata;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
};
