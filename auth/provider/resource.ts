import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { LIFETIMES_S } from '../lifetimes.ts';
import { ALGORITHM } from '../signing-keys/signing-keys.ts';
import { allowedScopesOf } from './client-metadata.ts';

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
  /** A token for the API works at `/userinfo`, too. One that asks nothing of the API is for `/userinfo` alone, and has no audience. */
  useGrantedResource(ctx, source) {
    const scopes = ctx.oidc.params?.scope === undefined ? source.scopes : ctx.oidc.requestParamScopes;
    return [...scopes].some((scope) => apiScopes.has(scope));
  },
});

const SCOPE_ROUTES = new Set(['authorization', 'pushed_authorization_request', 'device_authorization']);

const asksForScopes = ({ oidc }: KoaContextWithOIDC): boolean =>
  SCOPE_ROUTES.has(oidc.route) || (oidc.route === 'token' && oidc.params?.grant_type === 'client_credentials');

/** RFC 6749, section 3.3: rather an error than a token that can do less than was asked for. */
const demandScopes = ({ oidc }: KoaContextWithOIDC, allowed: readonly string[]): void => {
  if (oidc.requestParamScopes.size === 0) throw new errors.InvalidScope('scope is missing, and the client has no default', '');
  for (const scope of oidc.requestParamScopes) {
    // It asks for nothing: refresh tokens are given to whoever is registered for them.
    if (scope !== 'offline_access' && !allowed.includes(scope)) throw new errors.InvalidScope('requested scope is not allowed', scope);
  }
};
