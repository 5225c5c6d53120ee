import type { Provider } from 'oidc-provider';
import type { PersonalTokenNow } from '#edge/authenticate/personal-tokens.ts';
import type { StructuredTokens } from './structured-tokens.ts';

type Find = (token: string, options?: object) => Promise<unknown>;

type Dependencies = {
  readonly tokens: Pick<StructuredTokens, 'find'>;
  readonly findPersonalToken: (token: string) => Promise<PersonalTokenNow | undefined>;
  /** The audience of personal access tokens. */
  readonly resource: string;
};

/** Access tokens that oidc-provider does not store. It checks them like its own. */
export const findTokensOfOurs = (
  provider: Provider,
  { tokens, findPersonalToken, resource }: Dependencies,
): void => {
  const { AccessToken } = provider;
  const findStored: Find = AccessToken.find.bind(AccessToken);
  const find: Find = async (token, options) => {
    if (isSigned(token)) return findSigned(provider, tokens, token);
    const personal = typeof token === 'string' ? await findPersonalToken(token) : undefined;
    return personal === undefined ? findStored(token, options) : personalIn(provider, personal, resource);
  };
  Object.assign(AccessToken, { find });
};

/**
 * `/userinfo` also accepts the signed tokens of our API: their signature identifies them. Scope, key or
 * certificate, client, account and grant are then checked as for every other token.
 */
const findSigned = async (
  { AccessToken }: Provider,
  tokens: Dependencies['tokens'],
  token: string,
): Promise<unknown> => {
  const claims = await tokens.find(token);
  // A client that acts for itself has no grant, and is no person whom `/userinfo` could describe.
  if (claims?.grant_id === undefined) return undefined;
  const { jkt, 'x5t#S256': certificate } = (claims.cnf ?? {}) as { jkt?: string; 'x5t#S256'?: string };
  return Object.assign(new AccessToken({ accountId: claims.sub, grantId: claims.grant_id } as never), {
    clientId: claims.client_id,
    scope: claims.scope ?? '',
    exp: claims.exp,
    ...(jkt !== undefined && { jkt }),
    ...(certificate !== undefined && { 'x5t#S256': certificate }),
  });
};

/**
 * A personal access token has no client, so `sub` cannot be that of an account: oidc-provider would look for
 * the client. It never has `openid`, so `/userinfo` refuses it for its scope.
 */
const personalIn = (
  { AccessToken }: Provider,
  { userId, role, id, scopes, issuedAtS, expiresAtS }: PersonalTokenNow,
  resource: string,
): unknown =>
  Object.assign(new AccessToken({} as never), {
    jti: id,
    aud: resource,
    scope: scopes.join(' '),
    iat: Math.floor(issuedAtS),
    exp: Math.floor(expiresAtS),
    extra: { sub: String(userId), role },
  });

/** The compact form of a JWT has two dots; stored tokens have none. */
const isSigned = (token: unknown): token is string => typeof token === 'string' && token.includes('.');
