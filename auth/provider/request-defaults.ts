import type { Client, default as Provider } from 'oidc-provider';
import { defaultScopesOf } from './client-metadata.ts';

/** Raw parameters; oidc-provider validates them afterwards. */
type Parameters = Record<string, unknown>;

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Lets the shortest requests work: fills in missing parameters that can have only one value here, as soon as
 * the client is known and before oidc-provider reads them.
 */
export const fillInDefaults = (provider: Provider): void => {
  const { OIDCContext } = provider;
  class OIDCContextWithDefaults extends OIDCContext {
    override entity(key: string, value: unknown): void {
      super.entity(key, value);
      if (key === 'Client') fillIn(this, value as Client);
    }
  }
  Object.defineProperty(provider, 'OIDCContext', { value: OIDCContextWithDefaults });
};

type Context = {
  readonly route: string;
  readonly params?: Parameters | undefined;
  readonly body?: Parameters | undefined;
};

const fillIn = ({ route, params, body }: Context, client: Client): void => {
  if (route === 'authorization') fillInAuthorization(params, client);
  // These two know their client before they read the parameters from the body.
  if (route === 'pushed_authorization_request') fillInAuthorization(body, client);
  if (route === 'device_authorization') fillInScope(body, client);
  if (route === 'token') fillInToken(params, client);
};

const fillInAuthorization = (parameters: Parameters | undefined, client: Client): void => {
  // A pushed request is complete, and a signed one must not be changed.
  if (parameters === undefined || parameters.request_uri !== undefined || parameters.request !== undefined)
    return;
  parameters.response_type ??= 'code';
  if (parameters.code_challenge !== undefined) parameters.code_challenge_method ??= 'S256';
  fillInScope(parameters, client);
};

const fillInScope = (parameters: Parameters | undefined, client: Client): void => {
  const scopes = defaultScopesOf(client);
  if (parameters !== undefined && scopes.length > 0) parameters.scope ??= scopes.join(' ');
};

const fillInToken = (parameters: Parameters | undefined, client: Client): void => {
  if (parameters === undefined) return;
  parameters.grant_type ??= grantTypeOf(parameters);
  if (parameters.grant_type === 'client_credentials') fillInScope(parameters, client);
};

const grantTypeOf = ({
  code,
  refresh_token: refreshToken,
  device_code: deviceCode,
}: Parameters): string | undefined => {
  if (code !== undefined) return 'authorization_code';
  if (refreshToken !== undefined) return 'refresh_token';
  return deviceCode === undefined ? undefined : DEVICE_GRANT;
};
