import type { IncomingMessage } from 'node:http';
import { Rejection } from '#kernel/base/rejection.ts';
import { DPOP_ALGORITHMS } from './dpop-algorithms.ts';
import { requestFact } from './request-fact.ts';
import { type Scheme, TokenRefusal } from './token-refusal.ts';

/** The parts of a request that its challenge depends on. */
type Challenged = {
  /**
   * The URL of the resource metadata (RFC 9728, section 5.1), by which a client finds the authorization
   * server.
   */
  readonly metadataUrl: string;
  /** The scheme that the caller used. */
  readonly scheme: Scheme | undefined;
};

const challenged = requestFact<Challenged>('challenge');

export const rememberChallenge = (request: IncomingMessage, by: Challenged): void =>
  void challenged.set(request, by);

/**
 * The `WWW-Authenticate` of a refusal; undefined if the refusal is not about the caller, or the request was
 * not authenticated.
 */
export const challengeFor = (request: IncomingMessage, error: unknown): string | undefined => {
  const by = challenged.of(request);
  if (by === undefined) return undefined;
  if (error instanceof TokenRefusal)
    return format(by, error.scheme, { error: error.error, error_description: error.message });
  if (!(error instanceof Rejection)) return undefined;
  if (error.code === 'unauthenticated') return format(by, by.scheme, {});
  if (error.code === 'sign_in_too_old') {
    // RFC 9470, section 3.
    const { maxAge } = error.details;
    const named = {
      error: 'insufficient_user_authentication',
      error_description: error.message,
      max_age: String(maxAge),
    };
    return format(by, by.scheme, named);
  }
  if (error.code === 'insufficient_scope') {
    const { scope } = error.details;
    const named: Parameters = typeof scope === 'string' ? { scope } : {};
    return format(by, by.scheme, { error: 'insufficient_scope', error_description: error.message, ...named });
  }
  return undefined;
};

type Parameters = Readonly<Record<string, string>>;

/** Offers both schemes; the error stands under the scheme that the client used (RFC 9449, section 7.1). */
const format = ({ metadataUrl }: Challenged, tried: Scheme | undefined, parameters: Parameters): string =>
  (['Bearer', 'DPoP'] as const)
    .toSorted((one, other) => Number(other === tried) - Number(one === tried))
    .map((scheme) => {
      const own = scheme === (tried ?? 'Bearer') ? parameters : {};
      const algorithms: Parameters = scheme === 'DPoP' ? { algs: DPOP_ALGORITHMS.join(' ') } : {};
      const all = Object.entries({ ...own, ...algorithms, resource_metadata: metadataUrl });
      return `${scheme} ${all.map(([name, value]) => `${name}="${quotable(value)}"`).join(', ')}`;
    })
    .join(', ');

/** RFC 6750 allows these characters in its parameters, and a quoted string needs no escape for them. */
const quotable = (text: string): string =>
  text.replaceAll('’', "'").replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, ' ');
