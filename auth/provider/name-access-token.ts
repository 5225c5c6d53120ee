import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

type Save = (this: object, ...given: unknown[]) => Promise<string>;
type IdToken = { readonly ctx: KoaContextWithOIDC | undefined; set(claim: string, value: string): void };
type Issue = (this: IdToken, options: { readonly use: string }) => Promise<string>;

/**
 * ID tokens say by `at_hash` to which access token they belong (OpenID Connect Core, section 3.1.3.6). It is optional where both come
 * from `/token`, and there are clients that check it wherever they check the access token.
 */
export const nameAccessToken = (provider: Provider): void => {
  const values = new WeakMap<object, string>();
  const accessTokens = provider.AccessToken.prototype as unknown as { save: Save };
  const idTokens = provider.IdToken.prototype as unknown as { issue: Issue };
  const { save } = accessTokens;
  const { issue } = idTokens;
  accessTokens.save = async function (...given) {
    const value = await save.apply(this, given);
    values.set(this, value);
    return value;
  };
  // oidc-provider makes the digest itself.
  idTokens.issue = async function (options) {
    const { AccessToken: accessToken } = this.ctx?.oidc.entities ?? {};
    const value = accessToken === undefined ? undefined : values.get(accessToken);
    if (options.use === 'idtoken' && value !== undefined) this.set('at_hash', value);
    return issue.call(this, options);
  };
};
