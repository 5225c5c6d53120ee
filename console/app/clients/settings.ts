export type ClientForm = {
  readonly kind: string;
  readonly name: string;
  readonly clientId: string;
  readonly role: string;
  /** One per line. */
  readonly redirects: string;
  readonly scopes: readonly string[];
};

/** With it, an agent acts for a user whose token it has. */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** The body of `POST /clients`. */
export const settingsOf = ({ kind, name, clientId, role, redirects, scopes }: ClientForm): object => {
  const common = {
    name: name.trim(),
    ...(clientId.trim() !== '' && { clientId: clientId.trim() }),
    scopes,
  };
  if (kind === 'service') {
    return {
      ...common,
      grantTypes: ['client_credentials'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      serviceAccountRole: role,
    };
  }
  if (kind === 'agent')
    return { ...common, grantTypes: [TOKEN_EXCHANGE], tokenEndpointAuthMethod: 'client_secret_basic' };
  const redirectUris = redirects.split(/\s+/).filter(Boolean);
  const tokenEndpointAuthMethod = kind === 'web' ? 'client_secret_basic' : 'none';
  return {
    ...common,
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris,
    tokenEndpointAuthMethod,
  };
};
