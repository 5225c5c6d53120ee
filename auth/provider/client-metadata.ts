import type { AdapterPayload, Client } from 'oidc-provider';
import { areNative } from '#shared/clients/redirect-uri.ts';
import { ALGORITHM } from '../signing-keys/signing-keys.ts';
import { CONSOLE, hasSecret, type StoredClient } from '../storage/client.ts';

/** Our own client metadata, which oidc-provider passes through unchanged. */
export const EXTRA_CLIENT_METADATA = [
  'allowedScopes',
  'defaultScopes',
  'serviceAccount',
  'createdAtMs',
  'isAgent',
  'localOrigin',
] as const;

/** A client as oidc-provider describes one (RFC 7591, section 2). */
export const metadataOf = (client: StoredClient): AdapterPayload => ({
  client_id: client.clientId,
  client_name: client.name,
  // It only has to be present: `compareClientSecret` compares digests.
  ...(hasSecret(client.tokenEndpointAuthMethod) && {
    client_secret: client.secretHash?.toString('base64url'),
  }),
  application_type: isPage(client) || !areNative(client.redirectUris) ? 'web' : 'native',
  redirect_uris: [...client.redirectUris],
  post_logout_redirect_uris: [...client.postLogoutRedirectUris],
  grant_types: [...client.grantTypes],
  response_types: client.grantTypes.includes('authorization_code') ? ['code'] : [],
  token_endpoint_auth_method: client.tokenEndpointAuthMethod,
  id_token_signed_response_alg: ALGORITHM,
  dpop_bound_access_tokens: client.requireDpop,
  require_pushed_authorization_requests: client.requirePar,
  ...(client.jwks && { jwks: client.jwks }),
  ...(client.tokenEndpointAuthMethod === 'tls_client_auth' && {
    tls_client_auth_subject_dn: client.tlsClientAuthSubject,
  }),
  // A client that authenticates by certificate gets tokens bound to that certificate (RFC 8705, section 3).
  tls_client_certificate_bound_access_tokens: usesMutualTls(client) && !client.requireDpop,
  allowedScopes: [...client.scopes],
  defaultScopes: [...client.defaultScopes],
  serviceAccount: client.serviceAccount,
  createdAtMs: client.createdAt.getTime(),
  isAgent: isAgent(client),
  localOrigin: client.localOrigin,
});

/** Even without TLS: users of a native application would be asked for consent each time. */
const isPage = ({ clientId, localOrigin }: StoredClient): boolean =>
  clientId === CONSOLE || localOrigin !== undefined;

/**
 * Nobody vouches for a client that has registered itself, or that a document describes, until an administrator
 * makes it one of their own.
 */
const isAgent = ({ selfRegistered, firstParty }: StoredClient): boolean => selfRegistered && !firstParty;

const usesMutualTls = ({ tokenEndpointAuthMethod: method }: StoredClient): boolean =>
  method === 'tls_client_auth' || method === 'self_signed_tls_client_auth';

/** The values as `metadataOf` has set them. */
export const allowedScopesOf = (client: Client): readonly string[] =>
  client.allowedScopes as readonly string[];
export const defaultScopesOf = (client: Client): readonly string[] =>
  client.defaultScopes as readonly string[];
export const serviceAccountOf = (client: Client): number | undefined =>
  client.serviceAccount as number | undefined;
export const isAgentOf = (client: Client): boolean => client.isAgent === true;
export const createdAtMsOf = (client: Client): number => client.createdAtMs as number;
