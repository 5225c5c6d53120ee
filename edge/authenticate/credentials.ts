import { hash } from 'node:crypto';
import type { Request } from 'express';
import { type Scheme, TokenRefusal } from '../http/token-refusal.ts';

export type Credentials = {
  readonly scheme: Scheme;
  readonly token: string;
  /** Of the token; equals the `ath` of a DPoP proof. */
  readonly digest: string;
};

/** The `b64token` of RFC 6750, section 2.1; schemes are case-insensitive. */
const CREDENTIALS = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*) *$/i;
const OURS = /^(bearer|dpop)(?: |$)/i;

/**
 * The token of a request; undefined without one. Only `Authorization` counts. A token in a query would end up
 * in logs and histories (RFC 9700, section 4.3.2), so it is refused rather than ignored. Another scheme
 * counts as no token.
 */
export const credentialsOf = (request: Request): Credentials | undefined => {
  const { authorization: header } = request.headers;
  if (request.url.includes('?') && request.query.access_token !== undefined)
    throw new TokenRefusal('invalid_request', 'Send the token in Authorization, not in the query.', {
      scheme: schemeOf(header),
    });
  if (header === undefined) return undefined;
  if (countOf(request, 'authorization') > 1)
    throw new TokenRefusal('invalid_request', 'Send one Authorization header.', { scheme: schemeOf(header) });
  const socket = request.socket as Presenting;
  const presented = socket[PRESENTED];
  if (presented?.header === header) return presented.credentials;
  const credentials = parse(header);
  if (credentials !== undefined) socket[PRESENTED] = { header, credentials };
  return credentials;
};

/** For a connection without further requests: frees the memory of its token. */
export const forgetPresented = ({ socket }: Pick<Request, 'socket'>): void => {
  delete (socket as Presenting)[PRESENTED];
};

/**
 * A connection mostly repeats its last Authorization header, so it is parsed once. Every request still checks
 * the token.
 */
const PRESENTED = Symbol('credentials presented');
type Presenting = { [PRESENTED]?: { readonly header: string; readonly credentials: Credentials } };

const schemeOf = (header = ''): Scheme => (/^dpop/i.test(header) ? 'DPoP' : 'Bearer');

const parse = (header: string): Credentials | undefined => {
  if (!OURS.test(header)) return undefined;
  const scheme = schemeOf(header);
  const [, , token] = CREDENTIALS.exec(header) ?? [];
  if (token === undefined)
    throw new TokenRefusal('invalid_request', `Authorization must be ${scheme}, a space, and the token.`, {
      scheme,
    });
  return { scheme, token, digest: hash('sha256', token, 'base64url') };
};

/**
 * The number of such headers in a request; `request.headers` has only the first of a header that may occur
 * once.
 */
const countOf = ({ rawHeaders }: Request, name: string): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count;
};
