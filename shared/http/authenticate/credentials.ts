import type { Request } from 'express';
import { type Scheme, TokenRefusal } from './token-refusal.ts';

export type Credentials = { readonly scheme: Scheme; readonly token: string };

/** The `b64token` of RFC 6750, section 2.1; schemes are known regardless of case. */
const CREDENTIALS = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*) *$/i;
const OURS = /^(bearer|dpop)(?: |$)/i;

/**
 * The token of a request, or nothing: it is looked for in `Authorization` and nowhere else. In a query it would end up in logs
 * and histories (RFC 9700, section 4.3.2), so that is refused rather than overlooked. Another scheme counts as no token.
 */
export const credentialsOf = (request: Request): Credentials | undefined => {
  if (request.headers.authorization === undefined && !request.url.includes('?')) return undefined;
  const headers = request.headersDistinct.authorization ?? [];
  const [header = ''] = headers;
  const scheme = /^dpop/i.test(header) ? 'DPoP' : 'Bearer';
  if (request.query.access_token !== undefined)
    throw new TokenRefusal('invalid_request', 'Send the token in Authorization, not in the query.', { scheme });
  if (headers.length > 1) throw new TokenRefusal('invalid_request', 'Send one Authorization header.', { scheme });
  if (!OURS.test(header)) return undefined;
  const [, , token] = CREDENTIALS.exec(header) ?? [];
  if (token === undefined)
    throw new TokenRefusal('invalid_request', `Authorization must be ${scheme}, a space, and the token.`, { scheme });
  return { scheme, token };
};
