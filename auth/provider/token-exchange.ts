import { hash, type X509Certificate } from 'node:crypto';
import { decodeJwt, type JWTPayload } from 'jose';
import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import {
  checkDpopReplay,
  checkDpopRequired,
  checkMtlsCert,
  resolveRequestedResources,
  validateDpop,
} from 'oidc-provider/lib/helpers/grants.js';
import { PERSONAL_TOKEN_PREFIX } from '#edge/authenticate/personal-token.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { TOKEN_EXCHANGE } from '#shared/clients/settings.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Exchange } from '../agents/agents.ts';
import { LIFETIMES_S } from '../security/lifetimes.ts';
import type { Act } from './act.ts';
import { allowedScopesOf, defaultScopesOf } from './client-metadata.ts';
import type { StructuredTokens } from './structured-tokens.ts';

type Dependencies = {
  readonly tokens: Pick<StructuredTokens, 'find'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly resource: string;
  /** Those by which nobody gets further access: an agent must not outlive the token of its user. */
  readonly agentScopes: readonly string[];
  /** Records an exchange; returns false if the user wants no token for this agent. */
  readonly noteExchange: (exchange: Exchange) => Promise<boolean>;
};

/** The access token of a user, as it was issued to an application. */
type Subject = JWTPayload & {
  readonly sub: string;
  readonly exp: number;
  readonly scope?: string;
  readonly client_id: string;
  readonly grant_id: string;
  readonly cnf?: { readonly jkt?: string; readonly 'x5t#S256'?: string };
};

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

type Parameters = {
  readonly subject_token?: string;
  readonly subject_token_type?: string;
  readonly actor_token?: string;
  readonly actor_token_type?: string;
  readonly requested_token_type?: string;
  readonly audience?: string | readonly string[];
};
const PARAMETERS = [
  'subject_token',
  'subject_token_type',
  'actor_token',
  'actor_token_type',
  'requested_token_type',
  'audience',
  'resource',
  'scope',
] as const;

/**
 * Token exchange (RFC 8693), for delegation alone: an agent, a client with credentials of its own, presents the
 * access token of a user, and gets one with fewer rights, which ends no later and names both. It has the grant
 * of the user’s token, so it ends with that as well.
 */
export const exchangeTokens = (provider: Provider, dependencies: Dependencies): void =>
  provider.registerGrantType<Parameters>(
    TOKEN_EXCHANGE,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const given = demandForm(params, dependencies);
      const proof = await validateDpop(provider, ctx);
      const certificate = checkMtlsCert(provider, ctx);
      checkDpopRequired(provider, ctx, proof);
      const [resourceServer, ...others] = await resolveRequestedResources(provider, ctx);
      if (others.length > 0) throw new errors.InvalidTarget('only a single resource is supported');
      if (given.startsWith(PERSONAL_TOKEN_PREFIX)) throw refusal('it is a personal access token');
      const subject = subjectIn(await dependencies.tokens.find(given));
      if (subject.client_id === client.clientId) throw refusal('the client has it from the user itself');
      demandHolder(subject, { thumbprint: proof?.thumbprint, certificate });
      const scopes = scopesFor(ctx, subject, dependencies.agentScopes);
      await checkDpopReplay(provider, ctx, proof, client.clientId);
      const nowS = Math.floor(dependencies.clock.nowMs() / 1_000);
      const exp = Math.min(subject.exp, nowS + LIFETIMES_S.AccessToken);
      if (exp <= nowS) throw refusal('it has expired');
      const token = new provider.AccessToken({
        client,
        accountId: subject.sub,
        grantId: subject.grant_id,
        gty: 'token_exchange',
        scope: scopes.join(' '),
        resourceServer,
        exp,
      });
      if (certificate !== undefined) token.setThumbprint('x5t', certificate);
      if (proof !== undefined) token.setThumbprint('jkt', proof.thumbprint);
      const act: Act = { sub: client.clientId, act: { sub: subject.client_id } };
      ctx.oidc.entity(ACT, act);
      ctx.oidc.entity('AccessToken', token);
      const value = await token.save();
      // The new token does not count revocations before it: one since the first look would otherwise be missed.
      if ((await dependencies.tokens.find(given)) === undefined) throw refusal('it has been revoked');
      const isNoted = await dependencies.noteExchange({
        userId: Number(subject.sub) as UserId,
        agent: client.clientId,
        application: subject.client_id,
        grantId: subject.grant_id,
        scopes,
        jti: String(decodeJwt(value).jti),
        expiresInS: exp - nowS,
        requestId: requestIdOf(ctx.req),
      });
      if (!isNoted) throw refusal('the user has ended the access of this agent');
      ctx.body = {
        access_token: value,
        issued_token_type: ACCESS_TOKEN,
        token_type: token.tokenType,
        expires_in: exp - nowS,
        scope: token.scope,
      };
    },
    PARAMETERS,
    ['audience', 'resource'],
  );

const ACT = 'Act';

/** The agent of a token that is just being issued. */
export const actOf = ({ oidc }: KoaContextWithOIDC): Act | undefined => oidc.entities[ACT] as Act | undefined;

/** RFC 8693, section 2.1; returns the token of the user. */
const demandForm = (params: Parameters, { resource }: Pick<Dependencies, 'resource'>): string => {
  const { subject_token: token, subject_token_type: type, requested_token_type: wanted, audience } = params;
  if (token === undefined || type === undefined)
    throw new errors.InvalidRequest('subject_token and subject_token_type are required');
  if (type !== ACCESS_TOKEN) throw new errors.InvalidRequest(`subject_token_type must be ${ACCESS_TOKEN}`);
  if (wanted !== undefined && wanted !== ACCESS_TOKEN)
    throw new errors.InvalidRequest(`requested_token_type must be ${ACCESS_TOKEN}`);
  if (params.actor_token !== undefined || params.actor_token_type !== undefined)
    throw new errors.InvalidRequest('the client itself is the actor: send no actor_token');
  if (audience !== undefined && audience !== resource)
    throw new errors.InvalidTarget(`audience must be ${resource}`);
  return token;
};

/** An agent cannot pass on what it got itself: the history would not name everybody in between. */
const subjectIn = (claims: JWTPayload | undefined): Subject => {
  if (claims === undefined)
    throw refusal('it is no access token of this installation, has expired, or was revoked');
  if (claims.grant_id === undefined) throw refusal('it is not the token of a user who signed in');
  if (claims.act !== undefined) throw refusal('an agent already has it from a user');
  return claims as Subject;
};

const refusal = (reason: string): errors.InvalidRequest =>
  new errors.InvalidRequest(`subject_token is invalid: ${reason}`);

/** A bound token is of no use to a thief, and must not become a token that is. */
const demandHolder = (
  { cnf = {} }: Subject,
  {
    thumbprint,
    certificate,
  }: { readonly thumbprint: string | undefined; readonly certificate: X509Certificate | undefined },
): void => {
  const ofCertificate = certificate && hash('sha256', certificate.raw, 'base64url');
  if (cnf.jkt !== undefined && cnf.jkt !== thumbprint)
    throw refusal('it is bound to a key that the client has not proved');
  if (cnf['x5t#S256'] !== undefined && cnf['x5t#S256'] !== ofCertificate)
    throw refusal('it is bound to a certificate that the client does not have');
};

/** Within the user’s token, the registration of the agent, and what agents may have at all. */
const scopesFor = (
  { oidc }: KoaContextWithOIDC,
  subject: Subject,
  agentScopes: readonly string[],
): readonly string[] => {
  const client = oidc.client as NonNullable<typeof oidc.client>;
  const held = new Set(subject.scope?.split(' '));
  const asked = [...oidc.requestParamScopes];
  if (asked.length > 0) {
    const allowed = allowedScopesOf(client);
    for (const scope of asked) {
      if (!agentScopes.includes(scope))
        throw new errors.InvalidScope('an agent of a user cannot have the requested scope', scope);
      if (!allowed.includes(scope)) throw new errors.InvalidScope('requested scope is not allowed', scope);
      if (!held.has(scope))
        throw new errors.InvalidScope('the subject token does not have the requested scope', scope);
    }
    return asked;
  }
  const scopes = defaultScopesOf(client).filter((scope) => held.has(scope) && agentScopes.includes(scope));
  if (scopes.length === 0)
    throw new errors.InvalidScope('the subject token has none of the default scopes of the client', '');
  return scopes;
};
