import type { RequestHandler } from 'express';

/**
 * oidc-provider builds every URL from the request's host header, which the client controls. This sets it to
 * the issuer's own address, and the client's address to the one that Express has found by TRUST_PROXY.
 */
export const speakAsIssuer = (issuer: string): RequestHandler => {
  const { protocol, host } = new URL(issuer);
  return (request, _response, next) => {
    Object.assign(request.headers, {
      'x-forwarded-proto': protocol.slice(0, -1),
      'x-forwarded-host': host,
      'x-forwarded-for': request.ip ?? '',
    });
    next();
  };
};
