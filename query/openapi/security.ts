import type { JsonObject } from '#kernel/base/json.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isPublic, type Policy, scopeOf } from '#shared/policy.ts';
import { scopeWordsOf } from '#shared/scope-words.ts';

/**
 * The OAuth flows, and the bearer token alone. The endpoints of another issuer are in its own metadata. Device codes are an extension, because OpenAPI supports them
 * from 3.2 on.
 */
export const securitySchemes = (domain: Domain, issuerUrl: string): JsonObject => {
  const scopes = Object.fromEntries(
    [...scopeWordsOf(domain)].map(([scope, { described }]) => [scope, described]),
  );
  const tokens = { tokenUrl: `${issuerUrl}/token`, refreshUrl: `${issuerUrl}/token`, scopes };
  return {
    oauth: !serves(domain, 'accounts')
      ? {
          type: 'openIdConnect',
          openIdConnectUrl: `${issuerUrl}/.well-known/openid-configuration`,
          description: 'Access tokens (RFC 9068) of the issuer, for the audience of this server.',
        }
      : {
          type: 'oauth2',
          description:
            'OAuth 2.1: authorization codes with PKCE (S256) for users, client credentials for services, device codes for devices without a browser.',
          flows: {
            authorizationCode: { authorizationUrl: `${issuerUrl}/authorize`, ...tokens },
            clientCredentials: { tokenUrl: `${issuerUrl}/token`, scopes },
          },
          'x-deviceAuthorization': { deviceAuthorizationUrl: `${issuerUrl}/device_authorization`, ...tokens },
        },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token.',
    },
  };
};

/** Any of these is enough; the empty one means no token. */
export const securityOf = (policy: Policy, right: Operation | null): readonly JsonObject[] =>
  right === null
    ? [{}]
    : [...(allowsAnonymous(policy, right) ? [{}] : []), { oauth: [scopeOf(policy, right)] }, { bearer: [] }];

/** The same in words. */
export const demandOf = (policy: Policy, right: Operation | null): string => {
  if (right === null) return 'The same for everybody, with or without a token.';
  return allowsAnonymous(policy, right)
    ? `Public data needs no token and no scope. Everything else needs a token with the scope \`${scopeOf(policy, right)}\`.`
    : `Needs a token with the scope \`${scopeOf(policy, right)}\`.`;
};

export const allowsAnonymous = (policy: Policy, right: Operation | null): boolean =>
  right === null || isPublic(policy, right);
