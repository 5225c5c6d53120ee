import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { OIDC_SCOPES } from '#shared/clients/settings.ts';
import { DEVICE_INTERVAL_S } from '../lifetimes.ts';
import { guardFormPost } from './guard-form-post.ts';
import { isStructuredTokenRefused, rememberErrors, shapeError } from './shape-errors.ts';
import type { StructuredTokens } from './structured-tokens.ts';

type Dependencies = {
  readonly tokens: StructuredTokens;
  readonly apiScopes: readonly string[];
  /** Ends the grant by which a client acted in a session. */
  endGrant(grantId: string): Promise<void>;
};

/** Where oidc-provider deviates from what we promise, its answers are put right here, after it has given them. */
export const shapeAnswers = (provider: Provider, dependencies: Dependencies): void => {
  rememberErrors(provider);
  provider.use(async (ctx, next) => {
    await next();
    // It is there on the paths of oidc-provider, which are the only ones that come here.
    if ('oidc' in ctx) await shape(ctx as unknown as KoaContextWithOIDC, dependencies);
  });
};

const shape = async (ctx: KoaContextWithOIDC, { tokens, endGrant, apiScopes }: Dependencies): Promise<void> => {
  switch (ctx.oidc.route) {
    case 'introspection':
      if (isStructuredTokenRefused(ctx)) return answerIntrospection(ctx, tokens);
      return shapeError(ctx);
    case 'revocation':
      if (isStructuredTokenRefused(ctx)) return answerRevocation(ctx, tokens);
      return shapeError(ctx);
    case 'device_authorization':
      // RFC 8628, section 3.2: optional, and yet what every client needs.
      if (ctx.status === 200) ctx.body = { ...(ctx.body as object), interval: DEVICE_INTERVAL_S };
      return shapeError(ctx);
    case 'discovery':
      // Those of our API are oidc-provider's business only where a client asks for them.
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

/** Whoever asks has proved to be a client; a public one has proved nothing (RFC 7662, section 2.1). */
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
    ctx.body = { error: 'invalid_request', error_description: 'client is not authorized to revoke the presented token' };
    return;
  }
  ctx.status = 200;
  ctx.body = '';
};

const SEE_OTHER = 303;
const FOUND = 302;

/** RFC 6749, section 4.1.2, shows it by 302, and there are clients that look for that; the request was a GET, so both mean the same. */
const redirectByFound = (ctx: KoaContextWithOIDC): void => {
  const redirectUri = ctx.oidc.params?.redirect_uri;
  if (ctx.status !== SEE_OTHER || typeof redirectUri !== 'string') return;
  const location = ctx.response.get('Location');
  if (location.startsWith(redirectUri)) ctx.status = FOUND;
};

/** An application that signs its user out does not go on acting for them. */
const endGrantOfClient = async (ctx: KoaContextWithOIDC, endGrant: Dependencies['endGrant']): Promise<void> => {
  const { client, session } = ctx.oidc;
  if (ctx.status !== SEE_OTHER || client === undefined) return;
  const grantId = session?.authorizations?.[client.clientId]?.grantId;
  if (grantId !== undefined) await endGrant(grantId);
};
