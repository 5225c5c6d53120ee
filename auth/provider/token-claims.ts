import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { type FindPerson, findActive, personOf } from './account.ts';
import { serviceAccountOf } from './client-metadata.ts';

type Customize = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

/**
 * What our access tokens say beside what RFC 9068 has them say: in `scope` also the scopes of OpenID Connect, with which the same
 * token works at `/userinfo` (OpenID Connect Core, section 5.3); in `role` the role that the user has now, and in `grant_id` the
 * grant they end with. A client that acts for itself is the user that is its service account.
 */
export const createTokenClaims =
  (findPerson: FindPerson): Customize =>
  async (ctx, token, { payload }) => {
    if (token.kind === 'AccessToken') {
      token.scope = scopeOf(ctx, token.scope);
      payload.scope = token.scope;
      payload.role = roleOfAccount(ctx);
      payload.grant_id = token.grantId;
      return;
    }
    const person = await findActive(findPerson, serviceAccountOfClient(ctx));
    if (person === undefined) throw new errors.UnauthorizedClient('the service account of the client does not exist');
    payload.sub = String(person.userId);
    payload.role = person.role;
  };

/** oidc-provider itself keeps only the scopes of the API; what it answers the client is taken from the token afterwards. */
const scopeOf = ({ oidc }: KoaContextWithOIDC, apiScope: string | undefined): string => {
  const { Grant: grant, RefreshToken, AuthorizationCode, DeviceCode } = oidc.entities;
  const source = RefreshToken ?? AuthorizationCode ?? DeviceCode;
  const asked = oidc.params?.scope === undefined ? (source?.scopes ?? new Set()) : oidc.requestParamScopes;
  return [grant?.getOIDCScopeFiltered(asked), apiScope].filter(Boolean).join(' ');
};

const roleOfAccount = ({ oidc }: KoaContextWithOIDC): string => {
  const person = personOf(oidc.account);
  if (person === undefined) throw new Error('a token was to be issued for nobody');
  return person.role;
};

const serviceAccountOfClient = ({ oidc }: KoaContextWithOIDC): number => {
  const userId = oidc.client === undefined ? undefined : serviceAccountOf(oidc.client);
  if (userId === undefined) throw new errors.UnauthorizedClient('the client has no service account');
  return userId;
};
