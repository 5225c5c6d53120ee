import type { UserId } from '#kernel/base/brands.ts';
import type { AuthMethod, ClientSettings } from '#shared/clients/settings.ts';

/** The id of our own console, which is part of every installation. */
export const CONSOLE = 'console';

/** `secret` is there only right after it was made; it is never shown again. */
export type ClientAndSecret = { readonly client: StoredClient; readonly secret: string | undefined };

/** An application that may ask for tokens. */
export type StoredClient = Readonly<
  Omit<ClientSettings, 'tlsClientAuthSubject' | 'jwks' | 'serviceAccountRole'>
> & {
  readonly clientId: string;
  readonly secretHash?: Buffer | undefined;
  /** The user as whom the client acts for itself. */
  readonly serviceAccount?: UserId | undefined;
  readonly tlsClientAuthSubject?: string | undefined;
  readonly jwks?: NonNullable<ClientSettings['jwks']> | undefined;
  /** Of a page in development, which may redirect to every path of this origin. */
  readonly localOrigin?: string | undefined;
  /** Registered dynamically, by anybody. */
  readonly selfRegistered: boolean;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export const hasSecret = (method: AuthMethod): boolean =>
  method === 'client_secret_basic' || method === 'client_secret_post';

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
