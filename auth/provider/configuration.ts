// Over 200 lines, because it is one configuration: that of the authorization server.
import type { X509Certificate } from 'node:crypto';
import {
  type Client,
  type Configuration,
  errors,
  type KoaContextWithOIDC,
  type TLSClientAuthProperty,
} from 'oidc-provider';
import { clientCertificateOf, isCertificateVerified } from '#edge/http/client-certificate.ts';
import { type CorsOrigins, isAllowedOrigin } from '#edge/http/cors.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { OIDC_SCOPES } from '#shared/clients/settings.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import { LIFETIMES_S } from '../security/lifetimes.ts';
import { ALGORITHM, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { CONSOLE } from '../storage/client.ts';
import { createFindAccount, type FindPerson } from './account.ts';
import { EXTRA_CLIENT_METADATA } from './client-metadata.ts';
import type { ProviderPages } from './pages.ts';
import type { ReadProfile } from './profile.ts';
import { createTokenClaims, resourceIndicators } from './resource.ts';

export type ProviderSettings = {
  readonly issuer: string;
  /** The URL of our API: the audience of access tokens. */
  readonly resource: string;
  /** The scopes of the API. */
  readonly apiScopes: readonly string[];
  /** Those of them that an agent may have from a user. */
  readonly agentScopes: readonly string[];
  readonly masterKey: MasterKey;
  readonly ingressSecret: string | undefined;
  readonly dpopNonce: 'offered' | 'required';
  readonly oauthProfile: 'oauth-2.1' | 'fapi-2.0';
  readonly corsOrigins: CorsOrigins;
  readonly registrationUrl: string | undefined;
  /** Whether clients may be described by documents. */
  readonly hasClientDocuments: boolean;
  /** Whether pages of the user’s own machine are clients without registration. */
  readonly hasLocalPages: boolean;
  /** Undefined if the installation has no documentation. */
  readonly docsUrl: string | undefined;
  readonly findPerson: FindPerson;
  readonly readProfile: ReadProfile;
  readonly domain: Domain;
  readonly readAttributes: Parameters<typeof createTokenClaims>[0]['readAttributes'];
  readonly readSubject: Parameters<typeof createTokenClaims>[0]['readSubject'];
  readonly pages: ProviderPages;
};

/** OAuth 2.1 where oidc-provider's defaults differ, and the features of DESIGN §3. */
export const configurationOf = (settings: ProviderSettings, keys: SigningKeys): Configuration => ({
  jwks: { keys: [...keys] },
  responseTypes: ['code'],
  pkce: { required: () => true },
  scopes: [...OIDC_SCOPES],
  // `amr` names how the user has authenticated (RFC 8176).
  claims: { openid: ['sub', 'amr'], profile: ['name', 'role'], email: ['email', 'email_verified'] },
  // ID tokens contain what the granted scopes allow, like `/userinfo`: many clients read nothing else.
  conformIdTokenClaims: false,
  subjectTypes: ['public'],
  clientAuthMethods: [
    'client_secret_basic',
    'client_secret_post',
    'private_key_jwt',
    'tls_client_auth',
    'self_signed_tls_client_auth',
    'none',
  ],
  clientDefaults: {
    grant_types: [],
    response_types: [],
    id_token_signed_response_alg: ALGORITHM,
    token_endpoint_auth_method: 'none',
  },
  extraClientMetadata: { properties: [...EXTRA_CLIENT_METADATA] },
  routes: ROUTES,
  ttl: {
    ...LIFETIMES_S,
    RefreshToken: (_ctx, _token, client) =>
      isRotating(settings, client) ? LIFETIMES_S.RefreshToken : LIFETIMES_S.Grant,
  },
  rotateRefreshToken: ({ oidc: { client } }) => isRotating(settings, client),
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  // Other applications have a lifetime of their own; what a browser shows of ours ends with its session.
  expiresWithSession: (_ctx, { clientId }) => clientId === CONSOLE,
  cookies: cookiesOf(settings),
  findAccount: createFindAccount(settings),
  formats: { customizers: { jwt: createTokenClaims(settings) } },
  interactions: {
    url: (_ctx, { uid, prompt }) => `/${prompt.name === 'consent' ? 'consent' : 'sign-in'}/${uid}`,
  },
  discovery: discoveryOf(settings),
  clientBasedCORS: (_ctx, origin, client) =>
    allowsOrigin(settings.corsOrigins, origin, client.redirectUris ?? []),
  renderError: settings.pages.renderError,
  features: featuresOf(settings),
});

export const ROUTES = {
  authorization: '/authorize',
  token: '/token',
  device_authorization: '/device_authorization',
  code_verification: '/device',
  introspection: '/introspect',
  revocation: '/revoke',
  jwks: '/jwks',
  userinfo: '/userinfo',
  pushed_authorization_request: '/par',
  end_session: '/sign-out',
} as const;

const featuresOf = (settings: ProviderSettings): NonNullable<Configuration['features']> => {
  const { resource, apiScopes, masterKey, dpopNonce, ingressSecret, pages, oauthProfile } = settings;
  return {
    ...(oauthProfile === 'fapi-2.0' && {
      fapi: { enabled: true, profile: (_ctx, client) => (isOfOurPages(client) ? undefined : '2.0') },
    }),
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: {
      enabled: true,
      // Keeps no addresses and browser names of users.
      deviceInfo: () => ({}),
      userCodeInputSource: pages.userCodeInputSource,
      userCodeConfirmSource: pages.userCodeConfirmSource,
      successSource: pages.successSource,
    },
    introspection: { enabled: true, allowedPolicy: refuseAnonymousIntrospection },
    revocation: { enabled: true, allowedPolicy: ownTokensOnly },
    dPoP: {
      enabled: true,
      nonceSecret: deriveKey(masterKey, 'dpop-nonce'),
      requireNonce: () => dpopNonce === 'required',
    },
    mTLS: mutualTls(ingressSecret),
    pushedAuthorizationRequests: { enabled: true },
    resourceIndicators: resourceIndicators(resource, new Set(apiScopes)),
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: pages.logoutSource,
      postLogoutSuccessSource: pages.postLogoutSuccessSource,
    },
    userinfo: { enabled: true },
  };
};

/**
 * Refresh tokens are rotated, because a stolen one shows itself at its second use. FAPI 2.0 forbids it: its
 * tokens are bound to a key, and an answer that is lost would end the grant.
 */
const isRotating = ({ oauthProfile }: ProviderSettings, client: Client | undefined): boolean =>
  oauthProfile !== 'fapi-2.0' || isOfOurPages(client);

/** Pages in a browser keep no key with which they could authenticate. */
const isOfOurPages = (client: Client | undefined): boolean =>
  client?.clientId === CONSOLE || client?.clientId === ACCOUNT_CLIENT_ID;

/** RFC 7662, section 2.1: a public client has proved nothing, so it may not introspect. */
const refuseAnonymousIntrospection = (_ctx: KoaContextWithOIDC, client: Client): boolean => {
  if (client.clientAuthMethod === 'none')
    throw new errors.InvalidClientAuth('a public client cannot introspect');
  return true;
};

/**
 * RFC 7009, section 2.1: a client cannot revoke another client's token; an authenticated client gets an
 * error.
 */
const ownTokensOnly = (
  _ctx: KoaContextWithOIDC,
  client: Client,
  token: { clientId?: string | undefined },
): boolean => {
  if (token.clientId === client.clientId) return true;
  if (client.clientAuthMethod === 'none') return false;
  throw new errors.InvalidRequest('client is not authorized to revoke the presented token');
};

/**
 * With this prefix browsers refuse a cookie that another host, or a plain connection, has set; it needs TLS.
 */
const cookiesOf = ({ issuer, masterKey }: ProviderSettings): NonNullable<Configuration['cookies']> => {
  const isSecure = issuer.startsWith('https:');
  const options = { httpOnly: true, sameSite: 'lax', secure: isSecure, signed: true } as const;
  return {
    // The two short-lived cookies have a path of their own, which `__Host-` does not allow.
    names: {
      session: isSecure ? '__Host-annals_session' : 'annals_session',
      interaction: isSecure ? '__Secure-annals_interaction' : 'annals_interaction',
      resume: isSecure ? '__Secure-annals_resume' : 'annals_resume',
    },
    long: options,
    short: options,
    keys: [deriveKey(masterKey, 'auth-cookie').toString('base64url')],
  };
};

const discoveryOf = ({
  registrationUrl,
  hasClientDocuments,
  hasLocalPages,
  docsUrl,
  resource,
}: ProviderSettings) => ({
  registration_endpoint: registrationUrl,
  client_id_metadata_document_supported: hasClientDocuments ? true : undefined,
  // For `annals/client`.
  local_pages_supported: hasLocalPages ? true : undefined,
  service_documentation: docsUrl,
  protected_resources: [resource],
});

/** A page may get tokens on its client's own origin, or if every origin may read us. */
const allowsOrigin = (allowed: CorsOrigins, origin: string, redirectUris: readonly string[]): boolean =>
  isAllowedOrigin(allowed, origin) ||
  redirectUris.some((uri) => URL.canParse(uri) && new URL(uri).origin === origin);

type MutualTls = NonNullable<NonNullable<Configuration['features']>['mTLS']>;

/** Mutual TLS (RFC 8705): for client authentication and for bound tokens. */
const mutualTls = (ingressSecret: string | undefined): MutualTls => {
  const presented = (ctx: KoaContextWithOIDC) => clientCertificateOf(ctx.req, ingressSecret);
  return {
    enabled: true,
    certificateBoundAccessTokens: true,
    selfSignedTlsClientAuth: true,
    tlsClientAuth: true,
    getCertificate: (ctx) => presented(ctx),
    certificateAuthorized: (ctx) => isCertificateVerified(ctx.req, ingressSecret),
    certificateSubjectMatches(ctx, property, expected) {
      const certificate = presented(ctx);
      return certificate !== undefined && subjectMatches(certificate, property, expected);
    },
  };
};

const subjectMatches = (
  certificate: X509Certificate,
  property: TLSClientAuthProperty,
  expected: string,
): boolean =>
  // Clients here register a distinguished name; the alternative names of RFC 8705 are not offered.
  property === 'tls_client_auth_subject_dn' && distinguishedName(certificate) === normalise(expected);

/**
 * Node puts one attribute on a line, the most general first; RFC 4514 joins them with commas in reverse
 * order.
 */
const distinguishedName = ({ subject }: X509Certificate): string => subject.split('\n').reverse().join(',');

/** Spellings of a name differ only in the space after a comma and the case of attribute names. */
const normalise = (name: string): string =>
  name
    .split(/(?<!\\),\s*/)
    .map((part) => part.trim().replace(/^[a-z]+(?==)/i, (attribute) => attribute.toUpperCase()))
    .join(',');
