import {
  AuthorizationResponseError,
  allowInsecureRequests,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  clockTolerance,
  enableNonRepudiationChecks,
  ResponseBodyError,
  type ServerMetadata,
} from 'openid-client';
import type { Upstream } from '#process/upstreams.ts';
import { UpstreamFailed } from './connection.ts';

/** Two servers rarely agree on the time; more would keep an expired ID token valid. */
export const SKEW_S = 60;
export const TIMEOUT_S = 5;

/**
 * A client of the provider. It starts without the keys of the provider and fetches them, so that it knows those of
 * now: few people sign in at a time.
 */
export const clientOf = (upstream: Upstream, server: ServerMetadata): Configuration => {
  const { clientId, clientSecret } = upstream;
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication = methods.includes('client_secret_basic')
    ? ClientSecretBasic(clientSecret)
    : ClientSecretPost(clientSecret);
  const client = new Configuration(server, clientId, { [clockTolerance]: SKEW_S }, authentication);
  client.timeout = TIMEOUT_S;
  // The connection vouches for an ID token from the token endpoint; its signature shows that it is the issuer's, too.
  if (upstream.kind === 'openid') enableNonRepudiationChecks(client);
  if (isPlain(upstream)) allowInsecureRequests(client);
  return client;
};

/** The settings allow it on this machine alone. */
export const isPlain = ({ issuer }: Pick<Upstream, 'issuer'>): boolean => issuer.startsWith('http:');

const SERVER_ERROR = 500;
const UNREACHABLE: ReadonlySet<string> = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_JSON']);

/** Passes on failures by what the person can do about them. */
export const failureOf = (cause: unknown): UpstreamFailed => {
  if (cause instanceof UpstreamFailed) return cause;
  if (cause instanceof AuthorizationResponseError)
    return new UpstreamFailed(cause.error === 'temporarily_unavailable' ? 'unreachable' : 'cancelled', {
      cause,
    });
  if (cause instanceof ResponseBodyError)
    return new UpstreamFailed(cause.status >= SERVER_ERROR ? 'unreachable' : 'unverified', { cause });
  // `fetch` throws it if there is no connection.
  if (cause instanceof TypeError && cause.message === 'fetch failed')
    return new UpstreamFailed('unreachable', { cause });
  if (cause instanceof ClientError) {
    const inner = cause.cause instanceof Response ? cause.cause.status : 0;
    const isDown = UNREACHABLE.has(cause.code ?? '') || inner >= SERVER_ERROR;
    return new UpstreamFailed(isDown ? 'unreachable' : 'unverified', { cause });
  }
  return new UpstreamFailed('unverified', { cause });
};
