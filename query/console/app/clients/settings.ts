/** The body of `POST /clients`, from the form. */
export const settingsOf = (kind: string, form: FormData): object => {
  const text = (name: string): string => String(form.get(name) ?? '').trim();
  const scopes = form.getAll('scope').map(String);
  const common = {
    name: text('name'),
    ...(text('clientId') !== '' && { clientId: text('clientId') }),
    scopes,
  };
  if (kind === 'service') {
    return {
      ...common,
      grantTypes: ['client_credentials'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      serviceAccountRole: text('role'),
    };
  }
  const redirectUris = text('redirects').split(/\s+/).filter(Boolean);
  const tokenEndpointAuthMethod = kind === 'web' ? 'client_secret_basic' : 'none';
  return {
    ...common,
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris,
    tokenEndpointAuthMethod,
  };
};
