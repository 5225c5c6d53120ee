import { type ErrorRequestHandler, type RequestHandler, type Response, Router } from 'express';
import * as z from 'zod';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { plainIssue } from '#kernel/base/plain-issues.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { demandedLine } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type ClientSettings, clientSettingsOf, OIDC_SCOPES } from '#shared/clients/settings.ts';
import { policyOf } from '#shared/policy.ts';
import type { Allowance, Attempts } from '../accounts/attempts.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import type { Clients } from './clients.ts';
import { openScopesOf } from './open-scopes.ts';

const openScopes = (domain: Domain): readonly string[] => [...OIDC_SCOPES, ...openScopesOf(policyOf(domain))];
const OPEN_GRANTS = ['authorization_code', 'refresh_token'] as const;
const BODY_BYTES_MAX = 65_536;
const SCOPE_CHARACTERS_MAX = 32_768;

/** Each registration adds a row and an event, and over the limit takes another client's place. */
const PER_ADDRESS: Allowance = { name: 'register-address', burst: 10, intervalMs: 60_000 };

type Dependencies = {
  readonly domain: Domain;
  readonly clients: Clients;
  readonly attempts: Pick<Attempts, 'take'>;
};

/** Client metadata (RFC 7591, section 2). Unknown fields are ignored, as that section says. */
const Metadata = z.object({
  client_name: demandedLine(100).default('An unnamed application'),
  redirect_uris: z.array(z.string()).min(1),
  grant_types: z
    .array(z.string())
    .refine((grants) => grants.includes('authorization_code'), {
      error: 'Must have authorization_code, and may have refresh_token.',
    })
    .default(['authorization_code']),
  response_types: z.array(z.literal('code')).default(['code']),
  scope: z.string().max(SCOPE_CHARACTERS_MAX).optional(),
  dpop_bound_access_tokens: z.boolean().default(false),
  require_pushed_authorization_requests: z.boolean().default(false),
});

/**
 * Dynamic registration (RFC 7591): anybody may register an application. Its redirect URIs are its only proof.
 * It gets no secret, whichever authentication it asks for, is never first-party, and its users are always
 * asked for consent.
 */
export const registrationRoutes = (dependencies: Dependencies): Router =>
  Router()
    .post('/register', ...readJsonBody(BODY_BYTES_MAX, ['application/json']), register(dependencies))
    .all('/register', refuseOtherMethods('POST'))
    .use('/register', answerInItsWords);

const register =
  ({ domain, clients, attempts }: Dependencies): RequestHandler =>
  async (request, response) => {
    const metadata = Metadata.parse(request.body, PLAINLY);
    const settings = openSettingsOf(domain, metadata);
    const taken = await attempts.take(PER_ADDRESS, clientAddress(request));
    if (!taken.granted) return refuseHaste(response, taken.waitMs);
    const { client } = await clients.register(
      { settings, selfRegistered: true },
      { caller: callerOf(request), requestId: requestIdOf(request) },
    );
    response
      .status(201)
      .set('Cache-Control', 'no-store')
      .json({
        client_id: client.clientId,
        client_id_issued_at: Math.floor(client.createdAt.getTime() / 1_000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        grant_types: client.grantTypes,
        response_types: metadata.response_types,
        token_endpoint_auth_method: client.tokenEndpointAuthMethod,
        scope: client.scopes.join(' '),
        dpop_bound_access_tokens: client.requireDpop,
        require_pushed_authorization_requests: client.requirePar,
      });
  };

const refuseHaste = (response: Response, waitMs: number): void => {
  response
    .status(429)
    .set({ 'Cache-Control': 'no-store', 'Retry-After': String(waitSeconds(waitMs)) })
    .json({
      error: 'temporarily_unavailable',
      error_description: `Too many clients were registered. Try again in ${waitText(waitMs)}.`,
    });
};

/** The settings of a client for which nobody vouches. */
export const openSettingsOf = (domain: Domain, metadata: unknown): ClientSettings =>
  clientSettingsOf(domain).ClientSettings.parse(
    settingsOf(openScopes(domain), Metadata.parse(metadata, PLAINLY)),
    PLAINLY,
  );

/** The server may grant less than was asked for (section 3.2.1); its answer says what. */
const settingsOf = (open: readonly string[], metadata: z.infer<typeof Metadata>) => {
  const grantTypes = OPEN_GRANTS.filter((grant) => metadata.grant_types.includes(grant));
  const asked = metadata.scope?.split(' ').filter(Boolean) ?? open;
  const scopes = open.filter(
    (scope) => asked.includes(scope) && (scope !== 'offline_access' || grantTypes.includes('refresh_token')),
  );
  return {
    name: metadata.client_name,
    tokenEndpointAuthMethod: 'none',
    grantTypes,
    redirectUris: metadata.redirect_uris,
    scopes,
    requireDpop: metadata.dpop_bound_access_tokens,
    requirePar: metadata.require_pushed_authorization_requests,
  };
};

const PLAINLY = { error: plainIssue };

/** Section 3.2.2 defines error codes of its own. */
const answerInItsWords: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof Rejection && error.code === 'conflict') {
    return void response
      .status(503)
      .set('Cache-Control', 'no-store')
      .json({ error: 'temporarily_unavailable', error_description: 'There are too many clients.' });
  }
  if (!(error instanceof z.ZodError)) return next(error);
  const isAboutRedirects = error.issues.some(
    ({ path }) => path[0] === 'redirect_uris' || path[0] === 'redirectUris',
  );
  const description = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(' ');
  response
    .status(400)
    .set('Cache-Control', 'no-store')
    .json({
      error: isAboutRedirects ? 'invalid_redirect_uri' : 'invalid_client_metadata',
      error_description: description.slice(0, 500),
    });
};
