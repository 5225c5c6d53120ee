import type * as z from 'zod';
import { areNative } from './redirect-uri.ts';
import type { AuthMethod, ClientSettings } from './settings.ts';

type Rule = readonly [field: keyof ClientSettings, isBroken: (client: ClientSettings) => boolean, message: string];

const has = (grant: ClientSettings['grantTypes'][number]) => (client: ClientSettings) => client.grantTypes.includes(grant);
const code = has('authorization_code');
const device = has('urn:ietf:params:oauth:grant-type:device_code');
const service = has('client_credentials');
const uses =
  (...methods: readonly AuthMethod[]) =>
  ({ tokenEndpointAuthMethod }: ClientSettings) =>
    methods.includes(tokenEndpointAuthMethod);

/** What of a client must fit together. */
const RULES: readonly Rule[] = [
  ['redirectUris', (client) => code(client) && client.redirectUris.length === 0, 'The authorization code needs somewhere to go.'],
  ['redirectUris', (client) => !code(client) && client.redirectUris.length > 0, 'Only the authorization code is redirected.'],
  [
    'redirectUris',
    ({ redirectUris }) => redirectUris.some((uri) => !/^https?:/.test(uri)) && !areNative(redirectUris),
    'A scheme of one’s own does not go with https on this very machine.',
  ],
  [
    'postLogoutRedirectUris',
    (client) => !code(client) && client.postLogoutRedirectUris.length > 0,
    'Nobody signs out where nobody signs in.',
  ],
  [
    'grantTypes',
    (client) => has('refresh_token')(client) && !code(client) && !device(client),
    'Only a grant by a person can be refreshed.',
  ],
  ['tokenEndpointAuthMethod', (client) => service(client) && uses('none')(client), 'A client that acts for itself must prove who it is.'],
  [
    'scopes',
    (client) => client.scopes.includes('offline_access') && !has('refresh_token')(client),
    'offline_access needs the grant refresh_token.',
  ],
  ['defaultScopes', ({ defaultScopes, scopes }) => defaultScopes.some((scope) => !scopes.includes(scope)), 'Must be among the scopes.'],
  [
    'jwks',
    (client) => uses('private_key_jwt', 'self_signed_tls_client_auth')(client) && client.jwks === null,
    'This way of proving who it is needs keys.',
  ],
  ['jwks', (client) => !uses('private_key_jwt', 'self_signed_tls_client_auth')(client) && client.jwks !== null, 'No keys are used.'],
  [
    'tlsClientAuthSubject',
    (client) => uses('tls_client_auth')(client) && client.tlsClientAuthSubject === null,
    'The subject of its certificate is needed.',
  ],
  [
    'tlsClientAuthSubject',
    (client) => !uses('tls_client_auth')(client) && client.tlsClientAuthSubject !== null,
    'No certificate authority is used.',
  ],
  [
    'serviceAccountRole',
    (client) => !service(client) && client.serviceAccountRole !== undefined,
    'Only client_credentials has a service account.',
  ],
];

export const checkTogether = (client: ClientSettings, context: z.RefinementCtx): void => {
  for (const [field, isBroken, message] of RULES) if (isBroken(client)) context.addIssue({ code: 'custom', path: [field], message });
};
