import { type RequestHandler, Router } from 'express';

/** The origins whose pages may read our responses. */
export type CorsOrigins = 'any' | ReadonlySet<string>;

const EXPOSED = [
  'ETag',
  'Location',
  'Link',
  'Consistency-Token',
  'Content-Location',
  'Preference-Applied',
  'As-Of',
  'Memento-Datetime',
  'Allow',
  'Accept-Patch',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'DPoP-Nonce',
  'Deprecation',
  'Sunset',
  'X-Request-Id',
];
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const MAX_AGE_S = '7200';
const REQUESTED_HEADERS = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,1000}$/;

export const isAllowedOrigin = (origins: CorsOrigins, origin: string): boolean =>
  origins === 'any' || origins.has(origin);

/**
 * Cross-origin requests by web pages (the Fetch standard). They carry a token at most, never a cookie, so
 * that a page can do nothing that its own server could not do.
 */
export const cors = (origins: CorsOrigins, isPage?: IsPage): Router =>
  Router().use(corsHandler(origins, isPage));

/** Whether a path is that of a page, which only its own origin may read. */
export type IsPage = (path: string) => boolean;

export const corsHandler =
  (origins: CorsOrigins, isPage: IsPage = () => false): RequestHandler =>
  (request, response, next) => {
    if (isPage(request.path)) return next();
    if (origins !== 'any') response.vary('Origin');
    const { origin } = request.headers;
    if (origin === undefined || !isAllowedOrigin(origins, origin)) return next();
    response.set('Access-Control-Allow-Origin', origins === 'any' ? '*' : origin);
    response.set('Access-Control-Expose-Headers', EXPOSED.join(', '));
    if (request.method !== 'OPTIONS' || request.get('Access-Control-Request-Method') === undefined)
      return next();
    // Every request header is allowed: no header of ours does harm by itself.
    const headers = request.get('Access-Control-Request-Headers') ?? '';
    if (REQUESTED_HEADERS.test(headers)) response.set('Access-Control-Allow-Headers', headers);
    response.vary('Access-Control-Request-Headers');
    response
      .set({ 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Max-Age': MAX_AGE_S })
      .status(204)
      .end();
  };
