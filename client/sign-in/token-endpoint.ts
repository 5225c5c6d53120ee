import { Problem } from '../problem.ts';
import type { Session } from '../session.ts';
import { type Fetch, LIMITS, type Limits, send } from '../transport.ts';
import { type Prover, provingFetch } from './dpop.ts';
import { claimsIn } from './encoding.ts';

/** Requests access tokens (RFC 6749). Transient failures are retried, as for every request of the client. */

export type TokenOptions = Partial<Limits> & {
  /** The address of Annals, as for `createClient`. */
  readonly url: string | URL;
  readonly fetch?: Fetch;
};

export type AccessToken = {
  readonly token: string;
  readonly type: 'Bearer' | 'DPoP';
  readonly lifetimeMs: number;
  readonly refreshToken: string | undefined;
  /** By how much the server's clock is ahead of ours, if the token says when it was issued. */
  readonly aheadMs: number;
};

type Asked = TokenOptions & {
  readonly session: Session;
  readonly form: Readonly<Record<string, string>>;
  /** Proves the key that the token is to be bound to. */
  readonly prover?: Prover | undefined;
  readonly signal?: AbortSignal | undefined;
};

export const requestToken = async ({
  form,
  prover,
  fetch = globalThis.fetch.bind(globalThis),
  ...asked
}: Asked): Promise<AccessToken> => {
  const beganMs = Date.now();
  const proving = prover === undefined ? fetch : provingFetch(fetch, prover);
  const response = await postForm('/token', form, { ...asked, fetch: proving });
  return tokenIn(await response.text(), prover === undefined ? 'Bearer' : 'DPoP', beganMs);
};

type Posting = TokenOptions & Pick<Asked, 'session' | 'signal'>;

/**
 * Posts to an endpoint of the authorization server. Does not follow redirects, so that secrets go nowhere
 * else: a redirect is an unexpected answer.
 */
export const postForm = (
  path: string,
  form: Readonly<Record<string, string>>,
  { url, session, signal, fetch = globalThis.fetch.bind(globalThis), ...limits }: Posting,
): Promise<Response> =>
  send(
    {
      ...LIMITS,
      ...limits,
      session,
      fetch: async (input, init) => withProblem(await fetch(input, { ...init, redirect: 'manual' })),
    },
    {
      method: 'POST',
      url: `${String(url).replace(/\/+$/, '')}${path}`,
      headers: { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      isRepeatable: true,
      signal,
    },
  );

/**
 * Returns whether the server says that the grant is invalid (RFC 6749, 5.2). Other errors concern the client,
 * the request or a proxy; they end no session.
 */
export const endsGrant = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'invalid_grant';

/** Renews early, so that a slow request still arrives with a valid token. */
const EARLY_MS = 30_000;
const EARLY_SHARE_MAX = 0.2;

/** How long a token is used before its renewal. */
export const usableMs = ({ lifetimeMs }: Pick<AccessToken, 'lifetimeMs'>): number =>
  lifetimeMs - Math.min(lifetimeMs * EARLY_SHARE_MAX, EARLY_MS);

const MS_PER_SECOND = 1_000;

const tokenIn = (text: string, type: AccessToken['type'], beganMs: number): AccessToken => {
  const answer = answerIn(text);
  const {
    access_token: token,
    token_type: given,
    expires_in: lifetimeSeconds = Number.POSITIVE_INFINITY,
    refresh_token,
  } = answer;
  if (typeof token !== 'string' || String(given).toLowerCase() !== type.toLowerCase()) {
    const message = `the response of the token endpoint is not a valid ${type === 'Bearer' ? 'bearer' : type} token`;
    throw new Problem({ code: 'unexpected_answer', status: 200, message });
  }
  return {
    token,
    type,
    lifetimeMs: Number(lifetimeSeconds) * MS_PER_SECOND,
    refreshToken: typeof refresh_token === 'string' ? refresh_token : undefined,
    aheadMs: aheadBy(token, beganMs),
  };
};

/**
 * The token was issued between the request and the answer, which may be long after; within that interval the
 * clocks agree. An opaque token contains no times.
 */
const aheadBy = (token: string, beganMs: number): number => {
  const { iat } = claimsIn(token);
  if (typeof iat !== 'number') return 0;
  const issuedMs = iat * MS_PER_SECOND;
  return Math.max(0, issuedMs - Date.now()) + Math.min(0, issuedMs + MS_PER_SECOND - beganMs);
};

const answerIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};

/** Turns an OAuth error (RFC 6749, 5.2) into a problem with its code. */
const withProblem = async (response: Response): Promise<Response> => {
  // A browser reveals nothing else about a redirect.
  if (response.type === 'opaqueredirect') return new Response(null, { status: 302 });
  const { status, headers } = response;
  if (response.ok || !headers.get('Content-Type')?.startsWith('application/json')) return response;
  const { error: code, error_description: detail } = answerIn(await response.text());
  const problem = JSON.stringify({ code, detail });
  const retryAfter = headers.get('Retry-After');
  return new Response(problem, {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      ...(retryAfter !== null && { 'Retry-After': retryAfter }),
    },
  });
};
