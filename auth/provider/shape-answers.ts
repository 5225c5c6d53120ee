import { createHash } from 'node:crypto';
import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import { OIDC_SCOPES } from '#shared/clients/settings.ts';
import { formTargetsOf } from '../pages/form-targets.ts';
import { DEVICE_INTERVAL_S } from '../security/lifetimes.ts';
import type { StructuredTokens } from './structured-tokens.ts';

type Dependencies = {
  readonly tokens: StructuredTokens;
  readonly apiScopes: readonly string[];
  /** Ends the grant by which a client acted in a session. */
  endGrant(grantId: string): Promise<void>;
};

/** Corrects answers of oidc-provider that deviate from our contract, after it has written them. */
export const shapeAnswers = (provider: Provider, dependencies: Dependencies): void => {
  rememberErrors(provider);
  provider.use(async (ctx, next) => {
    await next();
    // Present on the paths of oidc-provider, and only those come here.
    if ('oidc' in ctx) await shape(ctx as unknown as KoaContextWithOIDC, dependencies);
  });
};

const shape = async (
  ctx: KoaContextWithOIDC,
  { tokens, endGrant, apiScopes }: Dependencies,
): Promise<void> => {
  switch (ctx.oidc.route) {
    case 'introspection':
      if (isStructuredTokenRefused(ctx)) return answerIntrospection(ctx, tokens);
      return shapeError(ctx);
    case 'revocation':
      if (isStructuredTokenRefused(ctx)) return answerRevocation(ctx, tokens);
      return shapeError(ctx);
    case 'device_authorization':
      // RFC 8628, section 3.2: optional, but every client needs it.
      if (ctx.status === 200) ctx.body = { ...(ctx.body as object), interval: DEVICE_INTERVAL_S };
      return shapeError(ctx);
    case 'discovery':
      // oidc-provider knows the API's scopes only once a client asks for them.
      ctx.body = { ...(ctx.body as object), scopes_supported: [...OIDC_SCOPES, ...apiScopes] };
      return;
    case 'authorization':
    case 'resume':
      guardFormPost(ctx);
      return redirectByFound(ctx);
    case 'end_session_confirm':
      return endGrantOfClient(ctx, endGrant);
    default:
      return shapeError(ctx);
  }
};

/**
 * Introspection needs an authenticated client; a public client has proved nothing (RFC 7662, section 2.1).
 */
const answerIntrospection = async (ctx: KoaContextWithOIDC, tokens: StructuredTokens): Promise<void> => {
  if (ctx.oidc.client?.clientAuthMethod === 'none') {
    ctx.status = 401;
    ctx.set('WWW-Authenticate', `Basic realm="${ctx.oidc.issuer}", error="invalid_client"`);
    ctx.body = { error: 'invalid_client', error_description: 'client authentication failed' };
    return;
  }
  ctx.status = 200;
  ctx.body = await tokens.introspect(String(ctx.oidc.params?.token));
};

const answerRevocation = async (ctx: KoaContextWithOIDC, tokens: StructuredTokens): Promise<void> => {
  const revoked = await tokens.revoke(String(ctx.oidc.params?.token), ctx.oidc.client?.clientId ?? '');
  if (revoked === 'not_yours') {
    ctx.status = 400;
    ctx.body = {
      error: 'invalid_request',
      error_description: 'client is not authorized to revoke the presented token',
    };
    return;
  }
  ctx.status = 200;
  ctx.body = '';
};

const SEE_OTHER = 303;
const FOUND = 302;

/**
 * RFC 6749, section 4.1.2, shows a 302, and some clients expect it. The request was a GET, so both mean the
 * same.
 */
const redirectByFound = (ctx: KoaContextWithOIDC): void => {
  const redirectUri = ctx.oidc.params?.redirect_uri;
  if (ctx.status !== SEE_OTHER || typeof redirectUri !== 'string') return;
  const location = ctx.response.get('Location');
  if (location.startsWith(redirectUri)) ctx.status = FOUND;
};

/** An application that signs its user out must no longer act for them. */
const endGrantOfClient = async (
  ctx: KoaContextWithOIDC,
  endGrant: Dependencies['endGrant'],
): Promise<void> => {
  const { client, session } = ctx.oidc;
  if (ctx.status !== SEE_OTHER || client === undefined) return;
  const grantId = session?.authorizations?.[client.clientId]?.grantId;
  if (grantId !== undefined) await endGrant(grantId);
};

/**
 * The one page of oidc-provider's own (`response_mode=form_post`): a form that a script sends to the client.
 * Nothing else may run, load, or store its content, an authorization code. Our own pages set their own
 * policy.
 */
const guardFormPost = (ctx: KoaContextWithOIDC): void => {
  if (typeof ctx.body !== 'string' || !ctx.response.is('html') || ctx.response.get('Content-Security-Policy'))
    return;
  const { params, client } = ctx.oidc;
  const [, script = ''] = /<script>([^<]*)<\/script>/.exec(ctx.body) ?? [];
  // Chromium also applies `form-action` to the redirects after a form.
  const targets = formTargetsOf([String(params?.redirect_uri), ...(client?.redirectUris ?? [])]);
  ctx.set({
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
      `form-action ${targets.join(' ') || "'none'"}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    // Never the full address, which contains the client's request; and not `no-referrer`, with which clients
    // get `Origin: null`.
    'Referrer-Policy': 'strict-origin',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
};

/** The corrected answer. */
type Shaped = { readonly status: number; readonly error: string; readonly description: string };

type Rule = {
  readonly isMeant: (error: errors.OIDCProviderError, route: string) => boolean;
  readonly answer: Shaped;
};

/**
 * oidc-provider distinguishes these errors by their texts only; its version is pinned, and each rule has a
 * test.
 */
const RULES: readonly Rule[] = [
  {
    // RFC 6749, section 5.2: no authentication, or an unknown scheme, is `invalid_client`.
    isMeant: ({ error_description: text = '' }) =>
      text === 'no client authentication mechanism provided' ||
      text.startsWith('invalid authorization header value format'),
    answer: { status: 401, error: 'invalid_client', description: 'client authentication failed' },
  },
  {
    isMeant: ({ error_description: text = '' }) => / is not allowed for this client$/.test(text),
    answer: {
      status: 400,
      error: 'unauthorized_client',
      description: 'the client is not registered for this grant type',
    },
  },
  {
    // RFC 9449, section 5.
    isMeant: ({ error_detail: detail }, route) =>
      detail === 'DPoP proof JWT Replay detected' && route !== 'userinfo',
    answer: { status: 400, error: 'invalid_dpop_proof', description: 'the DPoP proof was used before' },
  },
];

const errorsOf = new WeakMap<object, errors.OIDCProviderError>();

/** Keeps the error of a failed request for `shapeError`: the answer alone does not contain it. */
const rememberErrors = (provider: Provider): void => {
  const remember = (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) =>
    void errorsOf.set(ctx, error);
  provider.on('grant.error', remember);
  provider.on('introspection.error', remember);
  provider.on('revocation.error', remember);
  provider.on('device_authorization.error', remember);
  provider.on('pushed_authorization_request.error', remember);
};

/** Replaces error codes of oidc-provider by those of the RFCs. */
const shapeError = (ctx: KoaContextWithOIDC): void => {
  const error = errorsOf.get(ctx);
  if (error === undefined) return;
  const answer = RULES.find(({ isMeant }) => isMeant(error, ctx.oidc.route))?.answer;
  if (answer === undefined) return;
  ctx.status = answer.status;
  ctx.body = { error: answer.error, error_description: answer.description };
  if (answer.status === 401)
    ctx.set('WWW-Authenticate', `Basic realm="${ctx.oidc.issuer}", error="${answer.error}"`);
};

const isStructuredTokenRefused = (ctx: KoaContextWithOIDC): boolean =>
  errorsOf.get(ctx) instanceof errors.UnsupportedTokenType;
