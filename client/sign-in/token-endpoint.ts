import { Problem } from '../problem.ts';
import type { Session } from '../session.ts';
import { type Fetch, LIMITS, type Limits, send } from '../transport.ts';

/** Requests of access tokens (RFC 6749). What may pass is tried again, as every request of the client. */

export type TokenOptions = Partial<Limits> & {
  /** Where Annals is, as for `createClient`. */
  readonly url: string | URL;
  readonly fetch?: Fetch;
};

export type AccessToken = {
  readonly token: string;
  /** When to get another one. */
  readonly renewAtMs: number;
  /** Of a client that may refresh. Each is good for one use. */
  readonly refreshToken: string | undefined;
};

type Form = Readonly<Record<string, string>>;
type Asked = TokenOptions & { readonly session: Session; readonly form: Form; readonly signal?: AbortSignal | undefined };

export const requestToken = async (asked: Asked): Promise<AccessToken> => {
  const beganMs = Date.now();
  return tokenIn(await postForm('/token', asked), beganMs);
};

/** Posts a form to an endpoint of OAuth, and returns what it answers. */
export const postForm = async (
  path: string,
  { url, form, session, signal, fetch = globalThis.fetch, ...limits }: Asked,
): Promise<Answer> => {
  const response = await send(
    { ...LIMITS, ...limits, session, fetch: async (input, init) => withProblem(await fetch(input, init)) },
    {
      method: 'POST',
      url: `${String(url).replace(/\/+$/, '')}${path}`,
      headers: { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      isRepeatable: true,
      signal,
    },
  );
  return answerIn(await response.text());
};

/** A request that takes its time still arrives with a valid token. */
const EARLY_MS = 30_000;
const EARLY_SHARE_MAX = 0.2;
const MS_PER_SECOND = 1_000;

const tokenIn = (answer: Answer, beganMs: number): AccessToken => {
  const { access_token: token, token_type: type, expires_in: lifetimeSeconds = Number.POSITIVE_INFINITY } = answer;
  if (typeof token !== 'string' || String(type).toLowerCase() !== 'bearer')
    throw new Problem({ code: 'unexpected_answer', status: 200, message: 'the answer of the token endpoint is no bearer token' });
  const { refresh_token: refreshToken } = answer;
  const lifetimeMs = Number(lifetimeSeconds) * MS_PER_SECOND;
  return {
    token,
    renewAtMs: beganMs + lifetimeMs - Math.min(lifetimeMs * EARLY_SHARE_MAX, EARLY_MS),
    refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
  };
};

type Answer = Readonly<Record<string, unknown>>;
const answerIn = (text: string): Answer => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};

/** An error of OAuth (RFC 6749, 5.2) as the problem of its code. */
const withProblem = async (response: Response): Promise<Response> => {
  const { status, headers } = response;
  if (response.ok || !headers.get('Content-Type')?.startsWith('application/json')) return response;
  const { error: code, error_description: detail } = answerIn(await response.text());
  const problem = JSON.stringify({ code, detail });
  const retryAfter = headers.get('Retry-After');
  return new Response(problem, {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...(retryAfter !== null && { 'Retry-After': retryAfter }) },
  });
};

/** What the caller waits for, unless its signal is aborted. Others go on waiting for the same promise. */
export const unlessAborted = <Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> => {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
};
