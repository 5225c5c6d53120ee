import type { RequestListener } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import type { FastPath } from '#edge/http/fast-path.ts';
import { ROUTES } from './configuration.ts';
import { speakAsIssuer } from './speak-as-issuer.ts';

type Dependencies = {
  readonly handle: RequestListener;
  readonly issuer: string;
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
export const providerRoutes = ({ handle, issuer }: Dependencies): Router => {
  const router = Router();
  for (const [path, methods] of PATHS) {
    router.all(
      path,
      (request, _response, next) => (methods.includes(request.method) ? next() : next('route')),
      ...handOver({ handle, issuer }),
    );
    router.all(path, refuseOtherMethods(...methods));
  }
  return router;
};

const handOver = ({ handle, issuer }: Dependencies): readonly RequestHandler[] => [
  speakAsIssuer(issuer),
  (request, response) => void handle(request, response),
];

/** Endpoints that programs call often; no other handler has these paths. */
const SHORT: ReadonlySet<string | undefined> = new Set([
  ROUTES.token,
  ROUTES.introspection,
  ROUTES.revocation,
]);

export const providerFastPath = (handingOver: Dependencies): FastPath => ({
  takes: ({ method, url }) => method === 'POST' && SHORT.has(url),
  handlers: handOver(handingOver),
  failures: [],
});
