import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Domain } from '#kernel/registry/registry.ts';
import { endOfAccessMs } from '#kernel/registry/roles.ts';
import type { ReadAttributes } from '#shared/read-attributes.ts';
import { LIFETIMES_S } from '../security/lifetimes.ts';
import { ALGORITHM } from '../signing-keys/signing-keys.ts';
import { allowedScopesOf, isAgentOf, serviceAccountOf } from './client-metadata.ts';
import type { ReadSubject } from './read-subject.ts';
import { actOf } from './token-exchange.ts';

type ResourceIndicators = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

/** There is one resource, our API; requests without `resource` mean it (RFC 8707). */
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
   * A token for the API also works at `/userinfo`. A token without API scopes is for `/userinfo` only, and
   * has no audience.
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

/** RFC 6749, section 3.3: an error is better than a token with fewer scopes than requested. */
const demandScopes = ({ oidc }: KoaContextWithOIDC, allowed: readonly string[]): void => {
  if (oidc.requestParamScopes.size === 0)
    throw new errors.InvalidScope('scope is missing, and the client has no default', '');
  for (const scope of oidc.requestParamScopes) {
    // It requests no right: every client registered for refresh tokens gets them.
    if (scope !== 'offline_access' && !allowed.includes(scope))
      throw new errors.InvalidScope('requested scope is not allowed', scope);
  }
};

type Dependencies = {
  readonly domain: Domain;
  readonly readAttributes: ReadAttributes;
  readonly readSubject: ReadSubject;
};

type Customize = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

/**
 * Our access tokens extend RFC 9068: `scope` includes the scopes of OpenID Connect, so that the same token
 * works at `/userinfo` (OpenID Connect Core, section 5.3); `role` is the user's current role; `attributes`
 * are the user's values that rights compare; `grant_id` is the grant that the token ends with;
 * `revocations_seen` lists the earlier revocations; `user_version` is the version of the user's stream at
 * which the role was read; `auth_time` and `amr` are the time and the methods of the sign-in (RFC 9068,
 * section 2.2.1). A client that acts for itself is the user of its service account; one that acts for a user is
 * the `act` of their token (RFC 8693, section 4.1). `agent` says that nobody vouches for the client: commands with
 * `confirm` wait for a person.
 */
export const createTokenClaims =
  ({ domain, readAttributes, readSubject }: Dependencies): Customize =>
  async (ctx, token, { payload }) => {
    const userId = token.kind === 'AccessToken' ? Number(token.accountId) : serviceAccountOfClient(ctx);
    const act = actOf(ctx);
    const [{ person: found, seen }, application] = await Promise.all([
      readSubject({ userId, clientId: token.clientId ?? '' }),
      act && readSubject({ userId, clientId: act.act.sub }),
    ]);
    payload.revocations_seen =
      application === undefined ? seen : { ...seen, application: application.seen.client };
    const person = found?.status === 'active' ? found : undefined;
    // Read after the version, so that a later change has a later version.
    const attributes = person && (await readAttributes(person.userId));
    if (attributes !== undefined) payload.attributes = attributes;
    if (person !== undefined) endInTime(payload, endOfAccessMs(domain, { role: person.role, attributes }));
    if (token.kind === 'AccessToken') {
      if (person === undefined) throw new errors.InvalidGrant('the user does not exist any more');
      token.scope = scopeOf(ctx, token.scope);
      payload.scope = token.scope;
      const signIn = signInOf(ctx);
      payload.auth_time = signIn?.authTime;
      payload.amr = signIn?.amr;
      payload.act = act;
      if (ctx.oidc.client !== undefined && isAgentOf(ctx.oidc.client)) payload.agent = true;
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

/** oidc-provider keeps only the API's scopes; its answer to the client takes the scopes from the token. */
const scopeOf = ({ oidc }: KoaContextWithOIDC, apiScope: string | undefined): string => {
  const { Grant: grant, RefreshToken, AuthorizationCode, DeviceCode } = oidc.entities;
  const source = RefreshToken ?? AuthorizationCode ?? DeviceCode;
  const asked = oidc.params?.scope === undefined ? (source?.scopes ?? new Set()) : oidc.requestParamScopes;
  return [grant?.getOIDCScopeFiltered(asked), apiScope].filter(Boolean).join(' ');
};

/** No token outlasts the access of its user, that of an auditor. */
const endInTime = (payload: { exp?: unknown; iat?: unknown }, endsAtMs: number | undefined): void => {
  if (endsAtMs === undefined) return;
  if (endsAtMs <= Number(payload.iat) * MS_PER_SECOND)
    throw new errors.InvalidGrant('the access of this auditor has ended');
  payload.exp = Math.min(Number(payload.exp), Math.floor(endsAtMs / MS_PER_SECOND));
};

const MS_PER_SECOND = 1_000;

type SignIn = { readonly authTime?: number | undefined; readonly amr?: readonly string[] | undefined };

const signInOf = ({ oidc }: KoaContextWithOIDC): SignIn | undefined => {
  const { RefreshToken, AuthorizationCode, DeviceCode } = oidc.entities;
  return RefreshToken ?? AuthorizationCode ?? DeviceCode;
};

const serviceAccountOfClient = ({ oidc }: KoaContextWithOIDC): number => {
  const userId = oidc.client === undefined ? undefined : serviceAccountOf(oidc.client);
  if (userId === undefined) throw new errors.UnauthorizedClient('the client has no service account');
  return userId;
};
