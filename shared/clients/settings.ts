// Over 200 lines, because it is one form: the settings of a client, with the rules between them.

import * as z from 'zod';
import { oncePer } from '#kernel/base/once-per.ts';
import { visibleText } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isAuditorRole, leastRoleOf, rolesOf } from '#kernel/registry/roles.ts';
import { policyOf } from '#shared/policy.ts';
import { isExactAddress } from './document-address.ts';
import { publicJwks } from './public-jwks.ts';
import { areNative, redirectUri } from './redirect-uri.ts';

/** With it, an agent acts for a user whose token it has (RFC 8693). */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
  TOKEN_EXCHANGE,
] as const;

export const AUTH_METHODS = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** The scopes of OpenID Connect, beside those of our own resources. */
export const OIDC_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;

const URIS_MAX = 20;
const SUBJECT_CHARACTERS_MAX = 500;

/** Named, like every enumeration in a set: generators for Java do not compile sets of unnamed ones. */
const GrantType = z.enum(GRANT_TYPES).meta({ id: 'OAuthClientGrantType' });

const setOf = <Item extends z.ZodType<string>>(item: Item, itemsMax: number) =>
  z
    .array(item)
    .max(itemsMax)
    .refine((items) => new Set(items).size === items.length, { error: 'Must not repeat an item.' })
    .meta({ uniqueItems: true });

/** The settings of clients, by the scopes and roles of the domain. */
const settingsFor = (domain: Domain) => {
  const names: readonly string[] = [...policyOf(domain).scopes, ...OIDC_SCOPES];
  const scopes = setOf(z.enum(names).meta({ id: 'OAuthClientScope' }), names.length);
  /** Each setting in its decided form. */
  const settings = {
    name: visibleText(100).meta({ description: 'Shown to users who are asked for consent.' }),
    tokenEndpointAuthMethod: z.enum(AUTH_METHODS).meta({ description: 'How the client authenticates.' }),
    grantTypes: setOf(GrantType, GRANT_TYPES.length)
      .min(1)
      .meta({ description: 'The grant types that it may use.' }),
    redirectUris: setOf(redirectUri, URIS_MAX).meta({
      description: 'Redirect URIs after a sign-in; compared character by character.',
    }),
    postLogoutRedirectUris: setOf(redirectUri, URIS_MAX).meta({
      description: 'Redirect URIs after a sign-out.',
    }),
    scopes: scopes.meta({ description: 'Scopes that the client may request.' }),
    defaultScopes: scopes.meta({ description: 'Scopes of a request without `scope`.' }),
    firstParty: z
      .boolean()
      .meta({ description: 'Whether it is your own application: users are not asked for consent.' }),
    requireDpop: z
      .boolean()
      .meta({ description: 'Whether its tokens must be bound to a key of the client (DPoP).' }),
    requirePar: z.boolean().meta({ description: 'Whether it must use pushed authorization requests (PAR).' }),
    tlsClientAuthSubject: visibleText(SUBJECT_CHARACTERS_MAX)
      .nullable()
      .meta({ description: 'The subject of its certificate.' }),
    jwks: publicJwks.nullable().meta({ description: 'Its public keys, by value.' }),
    disabled: z.boolean().meta({ description: 'Whether it is disabled: it gets no tokens.' }),
    /** At registration; later it changes like any user’s role. */
    serviceAccountRole: z.enum(rolesOf(domain).filter((role) => !isAuditorRole(domain, role))).meta({
      description: `The role of its service account when that is created; by default \`${leastRoleOf(domain)}\`.`,
    }),
  };
  /** The optional settings; everything unsafe is off by default. */
  const sent = {
    ...settings,
    tokenEndpointAuthMethod: settings.tokenEndpointAuthMethod.default('none'),
    redirectUris: settings.redirectUris.default([]),
    postLogoutRedirectUris: settings.postLogoutRedirectUris.default([]),
    scopes: settings.scopes.default([]),
    defaultScopes: settings.defaultScopes
      .optional()
      .meta({ description: 'Scopes of a request without `scope`. By default all `scopes`.' }),
    firstParty: settings.firstParty.default(false),
    requireDpop: settings.requireDpop.default(false),
    requirePar: settings.requirePar.default(false),
    tlsClientAuthSubject: settings.tlsClientAuthSubject.default(null),
    jwks: settings.jwks.default(null),
    disabled: settings.disabled.default(false),
    serviceAccountRole: settings.serviceAccountRole.optional(),
  };
  return { settings, sent, Sent: z.strictObject(sent) };
};
type Settings = ReturnType<typeof settingsFor>;
type Sent = z.output<Settings['Sent']>;

/** A client without default scopes requests all of its scopes by default. */
export const withDefaultScopes = <S extends Pick<Sent, 'scopes' | 'defaultScopes'>>(settings: S) => ({
  ...settings,
  defaultScopes: settings.defaultScopes ?? settings.scopes,
});

/** The settings of a client that an administrator decides. */
export type ClientSettings = Omit<Sent, 'defaultScopes'> & { defaultScopes: string[] };

export const clientSettingsOf = oncePer(
  (domain: Domain): Settings & { readonly ClientSettings: z.ZodType<ClientSettings> } => {
    const settings = settingsFor(domain);
    return {
      ...settings,
      ClientSettings: settings.Sent.transform(withDefaultScopes).superRefine(checkTogether),
    };
  },
);

/** Readable names, chosen by operators; visible ASCII, because they go into headers, streams, and logs. */
export const clientId = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$/, {
  error: 'Must be 3 to 63 characters of a–z, 0–9 and the hyphen, without a hyphen at the beginning or end.',
});

/** Or the address of a document, with at most 128 characters, to block the client that it describes. */
export const clientIdOrAddress = z
  .string()
  .regex(/^(?:[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]|(?=.{1,128}$)https:\/\/[a-z0-9.-]+(?::\d+)?\/[\w.~/-]+)$/, {
    error:
      'Must be 3 to 63 characters of a–z, 0–9 and the hyphen, without a hyphen at the beginning or end, or the address of a document.',
  })
  // No document has an address in another spelling, so a client with it would block none.
  .refine((id) => !id.startsWith('https:') || isExactAddress(id), {
    error: 'Must be the address of a document exactly as its client_id has it.',
  });

type Rule = readonly [
  field: keyof ClientSettings,
  isBroken: (client: ClientSettings) => boolean,
  message: string,
];

const has = (grant: ClientSettings['grantTypes'][number]) => (client: ClientSettings) =>
  client.grantTypes.includes(grant);
const code = has('authorization_code');
const device = has('urn:ietf:params:oauth:grant-type:device_code');
const service = has('client_credentials');
const agent = has(TOKEN_EXCHANGE);
const uses =
  (...methods: readonly AuthMethod[]) =>
  ({ tokenEndpointAuthMethod }: ClientSettings) =>
    methods.includes(tokenEndpointAuthMethod);

/** Rules between settings of a client. */
const RULES: readonly Rule[] = [
  [
    'redirectUris',
    (client) => code(client) && client.redirectUris.length === 0,
    'The grant authorization_code needs a redirect URI.',
  ],
  [
    'redirectUris',
    (client) => !code(client) && client.redirectUris.length > 0,
    'Only the grant authorization_code uses redirect URIs.',
  ],
  [
    'redirectUris',
    ({ redirectUris }) => redirectUris.some((uri) => !/^https?:/.test(uri)) && !areNative(redirectUris),
    'A private scheme cannot be combined with https on a loopback address.',
  ],
  [
    'postLogoutRedirectUris',
    (client) => !code(client) && client.postLogoutRedirectUris.length > 0,
    'Only the grant authorization_code uses redirect URIs after a sign-out.',
  ],
  [
    'grantTypes',
    (client) => has('refresh_token')(client) && !code(client) && !device(client),
    'The grant refresh_token needs authorization_code or device_code.',
  ],
  [
    'tokenEndpointAuthMethod',
    (client) => service(client) && uses('none')(client),
    'A client with client_credentials must authenticate.',
  ],
  [
    'tokenEndpointAuthMethod',
    (client) => agent(client) && uses('none')(client),
    'A client with token-exchange must authenticate.',
  ],
  [
    'scopes',
    (client) => client.scopes.includes('offline_access') && !has('refresh_token')(client),
    'offline_access needs the grant refresh_token.',
  ],
  [
    'defaultScopes',
    ({ defaultScopes, scopes }) => defaultScopes.some((scope) => !scopes.includes(scope)),
    'Must be part of scopes.',
  ],
  [
    'jwks',
    (client) => uses('private_key_jwt', 'self_signed_tls_client_auth')(client) && client.jwks === null,
    'This authentication method needs keys.',
  ],
  [
    'jwks',
    (client) => !uses('private_key_jwt', 'self_signed_tls_client_auth')(client) && client.jwks !== null,
    'This authentication method uses no keys.',
  ],
  [
    'tlsClientAuthSubject',
    (client) => uses('tls_client_auth')(client) && client.tlsClientAuthSubject === null,
    'This authentication method needs the subject of the certificate.',
  ],
  [
    'tlsClientAuthSubject',
    (client) => !uses('tls_client_auth')(client) && client.tlsClientAuthSubject !== null,
    'Only tls_client_auth uses the subject of the certificate.',
  ],
  [
    'serviceAccountRole',
    (client) => !service(client) && client.serviceAccountRole !== undefined,
    'Only client_credentials has a service account.',
  ],
];

export const checkTogether = (client: ClientSettings, context: z.RefinementCtx): void => {
  for (const [field, isBroken, message] of RULES)
    if (isBroken(client)) context.addIssue({ code: 'custom', path: [field], message });
};
