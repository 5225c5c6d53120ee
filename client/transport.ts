import { NoAnswer, Problem, problemIn } from './problem.ts';
import type { Session } from './session.ts';
import { backoffMs, wait } from './wait.ts';

/** Sends requests, and retries failed ones if that is safe. */

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export type Limits = {
  /**
   * The timeout of one attempt: until the whole answer has arrived; for files and streams, until it starts.
   */
  readonly timeoutMs: number;
  /** The retry budget: all attempts and the pauses between them. No attempt starts after it. */
  readonly retryForMs: number;
  readonly attemptsMax: number;
};
export const LIMITS: Limits = { timeoutMs: 30_000, retryForMs: 60_000, attemptsMax: 12 };
const WAIT_MAX_MS = 10_000;

export type Sent = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestInit['body'] | undefined;
  /** A read, or a write with an idempotency key. */
  readonly isRepeatable: boolean;
  /** The caller reads the body: a file, or a stream. */
  readonly isStreamed?: boolean;
  readonly signal?: AbortSignal | undefined;
};

export type Transport = { readonly fetch: Fetch; readonly session: Session } & Limits;

/** Returns an answer with a success status; throws otherwise. */
export const send = async (transport: Transport, sent: Sent): Promise<Response> => {
  const beganMs = Date.now();
  for (let attempt = 0; ; attempt++) {
    const result = await attemptOf(transport, sent);
    if (result instanceof Response) return result;
    if (!sent.isRepeatable || attempt + 1 >= transport.attemptsMax || !mayPass(result)) throw result;
    const afterMs = (result instanceof Problem ? result.retryAfterMs : undefined) ?? 0;
    const pauseMs = Math.max(afterMs, backoffMs(attempt, WAIT_MAX_MS));
    if (Date.now() - beganMs + pauseMs > transport.retryForMs) throw result;
    await wait(pauseMs, sent.signal);
  }
};

/** A concurrent request with the same key is in progress. */
const PASSING_CODES: ReadonlySet<string> = new Set(['idempotency_key_in_use']);
/** An operator has to resolve it first. */
const LASTING_CODES: ReadonlySet<string> = new Set(['parked']);
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** Returns whether a retry may succeed. */
const mayPass = (error: Problem | NoAnswer): boolean =>
  error instanceof NoAnswer ||
  PASSING_CODES.has(error.code) ||
  (PASSING_STATUSES.has(error.status) && !LASTING_CODES.has(error.code));

const attemptOf = async (transport: Transport, sent: Sent): Promise<Response | Problem | NoAnswer> => {
  const authorization = await authorize(transport, sent);
  const response = await answerTo(transport, sent, authorization);
  if (!(response instanceof Response)) return response;
  if (isAnswer(response) || response.status === 304) return response;
  // The server did nothing, so even an unsafe request may be sent once more with another token.
  if (
    response.status === 401 &&
    !isStream(sent.body) &&
    (await transport.session.refused?.(response, authorization))
  ) {
    const again = await answerTo(transport, sent, await authorize(transport, sent));
    return again instanceof Response && !isAnswer(again) ? problemIn(again) : again;
  }
  return problemIn(response);
};

/** A person must approve what an agent asks for: 202 with a problem. */
const isAnswer = ({ ok, status, headers }: Response): boolean =>
  ok && !(status === 202 && headers.get('content-type')?.startsWith('application/problem+json'));

const isStream = (body: unknown): boolean => body instanceof ReadableStream;

/** Reads the whole body, so that a broken connection counts as no answer. */
const whole = async (response: Response): Promise<Response> => {
  const text = await response.text();
  return new Response(text === '' ? null : text, { status: response.status, headers: response.headers });
};

type Authorization = Readonly<Record<string, string>>;

/** Throws if the session has ended or cannot start. */
const authorize = async ({ session }: Transport, { method, url, signal }: Sent): Promise<Authorization> => {
  signal?.throwIfAborted();
  return session.authorize({ method, url, signal });
};

/** Throws only if the caller has aborted it, or if the platform cannot make the request. */
const answerTo = async (
  { fetch, timeoutMs }: Transport,
  sent: Sent,
  authorization: Authorization,
): Promise<Response | NoAnswer> => {
  const { method, url, body, isStreamed = false, signal } = sent;
  const headers = { ...authorization, ...sent.headers };
  const timeout = new AbortController();
  const signals = signal ? [timeout.signal, signal] : [timeout.signal];
  // Outside of `try`: a missing feature of the platform is not a broken connection.
  const init: RequestInit & { duplex?: 'half' } = {
    method,
    headers,
    signal: AbortSignal.any(signals),
    cache: 'no-store',
  };
  if (body !== undefined) init.body = body;
  if (isStream(body)) init.duplex = 'half';
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    const response = await fetch(url, init);
    return isStreamed && response.ok ? response : await whole(response);
  } catch (cause) {
    signal?.throwIfAborted();
    return new NoAnswer(timeout.signal.aborted ? 'timeout' : 'connection', { cause });
  } finally {
    clearTimeout(timer);
  }
};
