import type { RequestHandler } from 'express';

/**
 * oidc-provider makes every URL from where a request came to, which the client writes. Here that is always
 * the issuer's own address, whatever the request says, and the client's address is the one that Express has
 * found out by TRUST_PROXY.
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
