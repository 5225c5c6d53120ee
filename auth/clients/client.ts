import * as z from 'zod';
import type { UserId } from '#shared/brands.ts';
import { role, visibleText } from '#shared/events/fields.ts';
import { SCOPES } from '#shared/policy.ts';
import { checkTogether } from './client-rules.ts';
import { publicJwks } from './public-jwks.ts';
import { redirectUri } from './redirect-uri.ts';

/** An application that may ask for tokens. */
export type StoredClient = Readonly<Omit<ClientSettings, 'tlsClientAuthSubject' | 'jwks' | 'serviceAccountRole'>> & {
  readonly clientId: string;
  readonly secretHash?: Buffer | undefined;
  /** The user that the client is when it acts for itself. */
  readonly serviceAccount?: UserId | undefined;
  readonly tlsClientAuthSubject?: string | undefined;
  readonly jwks?: NonNullable<ClientSettings['jwks']> | undefined;
  /** Came by dynamic registration, from whoever asked. */
  readonly selfRegistered: boolean;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

const GRANT_TYPES = ['authorization_code', 'refresh_token', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'] as const;

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

const setOf = <Item extends z.ZodType<string>>(item: Item, itemsMax: number) =>
  z
    .array(item)
    .max(itemsMax)
    .refine((items) => new Set(items).size === items.length, { error: 'Must not repeat an item.' })
    .meta({ uniqueItems: true });

const scopes = setOf(z.enum([...SCOPES, ...OIDC_SCOPES]), SCOPES.length + OIDC_SCOPES.length);

/** What an administrator decides about a client; everything unsafe is off unless it is asked for. */
export const ClientSettings = z
  .strictObject({
    name: visibleText(100),
    tokenEndpointAuthMethod: z.enum(AUTH_METHODS).default('none'),
    grantTypes: setOf(z.enum(GRANT_TYPES), GRANT_TYPES.length).min(1),
    redirectUris: setOf(redirectUri, URIS_MAX).default([]),
    postLogoutRedirectUris: setOf(redirectUri, URIS_MAX).default([]),
    scopes: scopes.default([]),
    defaultScopes: scopes.optional(),
    /** Ours: its users are not asked for consent. */
    firstParty: z.boolean().default(false),
    requireDpop: z.boolean().default(false),
    requirePar: z.boolean().default(false),
    tlsClientAuthSubject: visibleText(SUBJECT_CHARACTERS_MAX).nullable().default(null),
    jwks: publicJwks.nullable().default(null),
    disabled: z.boolean().default(false),
    /** The role of the service account, when it is made; later it is changed as any user's is. */
    serviceAccountRole: role.optional(),
  })
  // What a request that names no scope asks for: all of them, unless whoever makes the client says otherwise.
  .transform((settings) => ({ ...settings, defaultScopes: settings.defaultScopes ?? settings.scopes }))
  .superRefine(checkTogether);
export type ClientSettings = z.infer<typeof ClientSettings>;

/** Readable names for what operators make; visible ASCII, because it goes into headers, streams, and logs. */
export const clientId = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$/, {
  error: 'Must be 3 to 63 of a–z, 0–9 and the hyphen, which neither begins nor ends it.',
});

export const hasSecret = (method: AuthMethod): boolean => method === 'client_secret_basic' || method === 'client_secret_post';

export const settingsOf = (client: StoredClient): ClientSettings => ({
  name: client.name,
  tokenEndpointAuthMethod: client.tokenEndpointAuthMethod,
  grantTypes: client.grantTypes,
  redirectUris: client.redirectUris,
  postLogoutRedirectUris: client.postLogoutRedirectUris,
  scopes: client.scopes,
  defaultScopes: client.defaultScopes,
  firstParty: client.firstParty,
  requireDpop: client.requireDpop,
  requirePar: client.requirePar,
  tlsClientAuthSubject: client.tlsClientAuthSubject ?? null,
  jwks: client.jwks ?? null,
  disabled: client.disabled,
});
