import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { ReadAttributes } from '#shared/read-attributes.ts';
import { LIFETIMES_S } from '../lifetimes.ts';
import { ALGORITHM } from '../signing-keys/signing-keys.ts';
import { allowedScopesOf, serviceAccountOf } from './client-metadata.ts';
import type { ReadSubject } from './read-subject.ts';

type ResourceIndicators = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

/** There is one resource, our API; who names none means it (RFC 8707). */
export const resourceIndicators = (resource: string, apiScopes: ReadonlySet<string>): ResourceIndicators => ({
  enabled: true,
  defaultResource: () => resource,
  getResourceServerInfo(ctx, indicator, client) {
    if (new URL(indicator).href !== new URL(resource).href) throw new errors.InvalidTarget();
    const allowed = allowedScopesOf(client);
    if (asksForScopes(ctx)) demandScopes(ctx, allowed);
    return {
      scope: allowed.filter((scope) => apiScopes.has(scope)).join(' '),
      audience: resource,
      accessTokenTTL: LIFETIMES_S.AccessToken,
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: ALGORITHM } },
    };
  },
  /**
   * A token for the API works at `/userinfo`, too. One that asks nothing of the API is for `/userinfo` alone,
   * and has no audience.
   */
  useGrantedResource(ctx, source) {
    const scopes = ctx.oidc.params?.scope === undefined ? source.scopes : ctx.oidc.requestParamScopes;
    return [...scopes].some((scope) => apiScopes.has(scope));
  },
});

const SCOPE_ROUTES = new Set(['authorization', 'pushed_authorization_request', 'device_authorization']);

const asksForScopes = ({ oidc }: KoaContextWithOIDC): boolean =>
  SCOPE_ROUTES.has(oidc.route) ||
  (oidc.route === 'token' && oidc.params?.grant_type === 'client_credentials');

/** RFC 6749, section 3.3: rather an error than a token that can do less than was asked for. */
const demandScopes = ({ oidc }: KoaContextWithOIDC, allowed: readonly string[]): void => {
  if (oidc.requestParamScopes.size === 0)
    throw new errors.InvalidScope('scope is missing, and the client has no default', '');
  for (const scope of oidc.requestParamScopes) {
    // It asks for nothing: refresh tokens are given to whoever is registered for them.
    if (scope !== 'offline_access' && !allowed.includes(scope))
      throw new errors.InvalidScope('requested scope is not allowed', scope);
  }
};

type Dependencies = {
  readonly readAttributes: ReadAttributes;
  readonly readSubject: ReadSubject;
};

type Customize = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

/**
 * What our access tokens say beside what RFC 9068 has them say: in `scope` also the scopes of OpenID Connect,
 * with which the same token works at `/userinfo` (OpenID Connect Core, section 5.3); in `role` the role that
 * the user has now, in `attributes` what rights compare of them, in `grant_id` the grant they end with, in
 * `revocations_seen` which revocations came before, and in `user_version` as of which version of the user's
 * stream the role was read, and in `auth_time` when the user signed in (RFC 9068, section 2.2.1). A client
 * that acts for itself is the user that is its service account.
 */
export const createTokenClaims =
  ({ readAttributes, readSubject }: Dependencies): Customize =>
  async (ctx, token, { payload }) => {
    const userId = token.kind === 'AccessToken' ? Number(token.accountId) : serviceAccountOfClient(ctx);
    const { person: found, seen } = await readSubject({ userId, clientId: token.clientId ?? '' });
    payload.revocations_seen = seen;
    const person = found?.status === 'active' ? found : undefined;
    // After the version by which later changes are told.
    const attributes = person && (await readAttributes(person.userId));
    if (attributes !== undefined) payload.attributes = attributes;
    if (token.kind === 'AccessToken') {
      if (person === undefined) throw new errors.InvalidGrant('the user does not exist any more');
      token.scope = scopeOf(ctx, token.scope);
      payload.scope = token.scope;
      payload.auth_time = signedInAtS(ctx);
      payload.role = person.role;
      payload.user_version = person.version;
      payload.grant_id = token.grantId;
      return;
    }
    if (person === undefined)
      throw new errors.UnauthorizedClient('the service account of the client does not exist');
    payload.sub = String(person.userId);
    payload.role = person.role;
    payload.user_version = person.version;
  };

/**
 * oidc-provider itself keeps only the scopes of the API; what it answers the client is taken from the token
 * afterwards.
 */
const scopeOf = ({ oidc }: KoaContextWithOIDC, apiScope: string | undefined): string => {
  const { Grant: grant, RefreshToken, AuthorizationCode, DeviceCode } = oidc.entities;
  const source = RefreshToken ?? AuthorizationCode ?? DeviceCode;
  const asked = oidc.params?.scope === undefined ? (source?.scopes ?? new Set()) : oidc.requestParamScopes;
  return [grant?.getOIDCScopeFiltered(asked), apiScope].filter(Boolean).join(' ');
};

const signedInAtS = ({ oidc }: KoaContextWithOIDC): number | undefined => {
  const { RefreshToken, AuthorizationCode, DeviceCode } = oidc.entities;
  return (RefreshToken ?? AuthorizationCode ?? DeviceCode)?.authTime;
};

const serviceAccountOfClient = ({ oidc }: KoaContextWithOIDC): number => {
  const userId = oidc.client === undefined ? undefined : serviceAccountOf(oidc.client);
  if (userId === undefined) throw new errors.UnauthorizedClient('the client has no service account');
  return userId;
};
