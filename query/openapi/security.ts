import type { JsonObject } from '#shared/json.ts';
import { isPublic, type Operation, type Policy, type Scope, scopeOf } from '#shared/policy.ts';

/** What each scope lets an application do, as far as the user may do it. */
const SCOPES = {
  'read:users': 'Read profiles',
  'write:users': 'Change and delete profiles',
  'read:articles': 'Read articles',
  'write:articles': 'Write, change and delete articles',
  'publish:articles': 'Publish articles and take them back',
  'read:comments': 'Read comments',
  'write:comments': 'Write, change and delete comments',
  'manage:webhooks': 'Manage webhooks',
  'read:events': 'Read events and histories',
  'read:schema': 'Read the schema of GraphQL where INTROSPECTION is off',
  'manage:clients': 'Manage applications',
  'manage:operations': 'Give orders to the operation of the installation',
} as const satisfies Record<Scope, string>;

/** The ways to a token, and the token alone. Device codes stand in an extension, because OpenAPI knows them from 3.2 on. */
export const securitySchemes = (issuerUrl: string): JsonObject => {
  const tokens = { tokenUrl: `${issuerUrl}/token`, refreshUrl: `${issuerUrl}/token`, scopes: SCOPES };
  return {
    oauth: {
      type: 'oauth2',
      description: 'OAuth 2.1: codes with PKCE (S256) for people, client credentials for services, device codes for what has no browser.',
      flows: {
        authorizationCode: { authorizationUrl: `${issuerUrl}/authorize`, ...tokens },
        clientCredentials: { tokenUrl: `${issuerUrl}/token`, scopes: SCOPES },
      },
      'x-deviceAuthorization': { deviceAuthorizationUrl: `${issuerUrl}/device_authorization`, ...tokens },
    },
    bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token, however it was got.' },
  };
};

/** Any of these is enough; the empty one stands for callers without a token. */
export const securityOf = (policy: Policy, right: Operation | null): readonly JsonObject[] =>
  right === null ? [{}] : [...(allowsAnonymous(policy, right) ? [{}] : []), { oauth: [scopeOf(policy, right)] }, { bearer: [] }];

/** The same in words. */
export const demandOf = (policy: Policy, right: Operation | null): string => {
  if (right === null) return 'The same for everybody, with a token or without.';
  return allowsAnonymous(policy, right)
    ? `What is public needs no token, and no scope. The rest needs a token with the scope \`${scopeOf(policy, right)}\`.`
    : `Needs a token with the scope \`${scopeOf(policy, right)}\`.`;
};

export const allowsAnonymous = (policy: Policy, right: Operation | null): boolean => right === null || isPublic(policy, right);
