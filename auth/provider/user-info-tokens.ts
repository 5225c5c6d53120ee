import type { Provider } from 'oidc-provider';
import type { StructuredTokens } from './structured-tokens.ts';

type Find = (token: string, options?: object) => Promise<unknown>;

/**
 * `/userinfo` also takes the signed tokens of our API, which oidc-provider does not store: they are found by their signature.
 * Scope, key or certificate, client, account, and grant are then checked as for every other token.
 */
export const findSignedTokens = (provider: Provider, tokens: Pick<StructuredTokens, 'find'>): void => {
  const { AccessToken } = provider;
  const findStored: Find = AccessToken.find.bind(AccessToken);
  const find: Find = async (token, options) => {
    if (!isSigned(token)) return findStored(token, options);
    const claims = await tokens.find(token);
    // A client that acts for itself has no grant, and is nobody whom `/userinfo` could describe.
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
  Object.assign(AccessToken, { find });
};

/** The compact form of a JWT has two dots, and no stored token has any. */
const isSigned = (token: unknown): token is string => typeof token === 'string' && token.includes('.');
