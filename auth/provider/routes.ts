import type { RequestListener } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import type { FastPath } from '#edge/http/fast-path.ts';
import { ROUTES } from './configuration.ts';
import { speakAsIssuer } from './speak-as-issuer.ts';

type Dependencies = {
  readonly handle: RequestListener;
  readonly issuer: string;
  readonly resource: string;
  /** Whether it has documentation. */
  readonly hasDocs: boolean;
  /** Of our API. */
  readonly scopes: readonly string[];
};

/** oidc-provider checks the tokens of this path itself: they are not for our API. */
export const TOKENS_CHECKED_HERE: ReadonlySet<string> = new Set([ROUTES.userinfo]);

const GET = ['GET', 'HEAD'] as const;
const DISCOVERY = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'] as const;

/** The methods of each path; oidc-provider itself would answer 404 to any other. */
const PATHS: readonly (readonly [path: string, methods: readonly string[]])[] = [
  ...DISCOVERY.map((path) => [path, [...GET, 'OPTIONS']] as const),
  [ROUTES.jwks, [...GET, 'OPTIONS']],
  [ROUTES.authorization, GET],
  [`${ROUTES.authorization}/:uid`, GET],
  [ROUTES.token, ['POST', 'OPTIONS']],
  [ROUTES.pushed_authorization_request, ['POST', 'OPTIONS']],
  [ROUTES.device_authorization, ['POST', 'OPTIONS']],
  [ROUTES.code_verification, [...GET, 'POST']],
  [`${ROUTES.code_verification}/:uid`, GET],
  [ROUTES.introspection, ['POST', 'OPTIONS']],
  [ROUTES.revocation, ['POST', 'OPTIONS']],
  [ROUTES.userinfo, [...GET, 'POST', 'OPTIONS']],
  [ROUTES.end_session, GET],
  [`${ROUTES.end_session}/confirm`, ['POST']],
  [`${ROUTES.end_session}/success`, GET],
];

/**
 * The endpoints of the authorization server. They read request bodies themselves: mount them before any body
 * parser.
 */
export const providerRoutes = ({ handle, ...described }: Dependencies): Router => {
  const { issuer } = described;
  const router = Router();
  for (const [path, methods] of PATHS) {
    router.all(
      path,
      (request, _response, next) => (methods.includes(request.method) ? next() : next('route')),
      ...handOver({ handle, issuer }),
    );
    router.all(path, refuseOtherMethods(...methods));
  }
  return router.use(protectedResourceRoutes(described));
};

type HandingOver = Pick<Dependencies, 'handle' | 'issuer'>;

const handOver = ({ handle, issuer }: HandingOver): readonly RequestHandler[] => [
  speakAsIssuer(issuer),
  (request, response) => void handle(request, response),
];

/** Endpoints that programs call often; no other handler has these paths. */
const SHORT: ReadonlySet<string | undefined> = new Set([
  ROUTES.token,
  ROUTES.introspection,
  ROUTES.revocation,
]);

export const providerFastPath = (handingOver: HandingOver): FastPath => ({
  takes: ({ method, url }) => method === 'POST' && SHORT.has(url),
  handlers: handOver(handingOver),
  failures: [],
});

const METADATA_PATH = '/.well-known/oauth-protected-resource';
const HOUR_S = 3_600;

/** RFC 9728: describes to a client that our API refused how to get a token for it. */
const protectedResourceRoutes = ({
  issuer,
  resource,
  hasDocs,
  scopes,
}: Omit<Dependencies, 'handle'>): Router => {
  const metadata = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_name: 'Annals',
    ...(hasDocs && { resource_documentation: `${resource}/docs` }),
    dpop_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'],
    tls_client_certificate_bound_access_tokens: true,
  };
  // Section 3.1: for a resource with a path, the well-known part goes between host and path.
  const { pathname } = new URL(resource);
  const path = pathname === '/' ? METADATA_PATH : `${METADATA_PATH}${pathname}`;
  return Router()
    .get([METADATA_PATH, path], (_request, response) => {
      response
        .set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': `public, max-age=${HOUR_S}` })
        .json(metadata);
    })
    .all([METADATA_PATH, path], refuseOtherMethods(...GET));
};
