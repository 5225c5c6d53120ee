import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';

/** What a client is told instead. */
type Shaped = { readonly status: number; readonly error: string; readonly description: string };

type Rule = { readonly isMeant: (error: errors.OIDCProviderError, route: string) => boolean; readonly answer: Shaped };

/** oidc-provider tells these apart by their texts alone; its version is pinned, and each rule has a test. */
const RULES: readonly Rule[] = [
  {
    // RFC 6749, section 5.2: who does not authenticate, or by a scheme that is none, is not a client.
    isMeant: ({ error_description: text = '' }) =>
      text === 'no client authentication mechanism provided' || text.startsWith('invalid authorization header value format'),
    answer: { status: 401, error: 'invalid_client', description: 'client authentication failed' },
  },
  {
    isMeant: ({ error_description: text = '' }) => / is not allowed for this client$/.test(text),
    answer: { status: 400, error: 'unauthorized_client', description: 'the client is not registered for this grant type' },
  },
  {
    // RFC 9449, section 5.
    isMeant: ({ error_detail: detail }, route) => detail === 'DPoP proof JWT Replay detected' && route !== 'userinfo',
    answer: { status: 400, error: 'invalid_dpop_proof', description: 'the DPoP proof was used before' },
  },
];

const errorsOf = new WeakMap<object, errors.OIDCProviderError>();

/** Remembers why a request failed, for `shapeError`: the answer alone does not say it. */
export const rememberErrors = (provider: Provider): void => {
  const remember = (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => void errorsOf.set(ctx, error);
  provider.on('grant.error', remember);
  provider.on('introspection.error', remember);
  provider.on('revocation.error', remember);
  provider.on('device_authorization.error', remember);
  provider.on('pushed_authorization_request.error', remember);
};

/** Says in the words of the RFCs what oidc-provider says in others. */
export const shapeError = (ctx: KoaContextWithOIDC): void => {
  const error = errorsOf.get(ctx);
  if (error === undefined) return;
  const answer = RULES.find(({ isMeant }) => isMeant(error, ctx.oidc.route))?.answer;
  if (answer === undefined) return;
  ctx.status = answer.status;
  ctx.body = { error: answer.error, error_description: answer.description };
  if (answer.status === 401) ctx.set('WWW-Authenticate', `Basic realm="${ctx.oidc.issuer}", error="${answer.error}"`);
};

export const isStructuredTokenRefused = (ctx: KoaContextWithOIDC): boolean => errorsOf.get(ctx) instanceof errors.UnsupportedTokenType;
