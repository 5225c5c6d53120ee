import type { Send } from './collections.ts';
import { ANY_ORIGIN } from './pages.ts';
import { Problem } from './problem.ts';
import { sessionOf, type Token } from './session.ts';
import { type Fetch, LIMITS, type Limits, type Sent, send as sendBy, type Transport } from './transport.ts';
import type { ReadOptions, WriteOptions } from './types/options.ts';

/** Makes every request of a client safe to retry, and lets reads see the client's own writes. */

export type Options = Partial<Limits> & {
  /** The address of Annals, such as `https://expenses.example`; with a path, if it is behind one. */
  readonly url: string | URL;
  readonly token?: Token | undefined;
  readonly fetch?: Fetch;
};
type Overrides = ReadOptions & WriteOptions;

export type Requester = {
  readonly send: Send;
  /** The address of Annals, without a slash at its end. */
  readonly base: string;
  /** One attempt, without retries. */
  readonly once: Send;
  readonly with: (options: Overrides) => Requester;
  /** What `with` has given, for requests that belong to one call. */
  readonly options: Overrides;
  readonly written: () => string | undefined;
};

/** The state that all clients derived by `with` share. */
type Shared = { readonly base: string; readonly transport: Transport; written: string | undefined };

export const requesterOf = ({
  url,
  token,
  fetch = globalThis.fetch.bind(globalThis),
  ...limits
}: Options): Requester => {
  const transport: Transport = { ...LIMITS, ...limits, fetch, session: sessionOf(token) };
  return requesterBy({ base: String(url).replace(/\/+$/, ''), transport, written: undefined }, {});
};

const requesterBy = (shared: Shared, defaults: Overrides): Requester => {
  const sender =
    (limits: Partial<Limits>): Send =>
    (method, path, { options, ...asked }) =>
      request(shared, { ...limits, method, path, ...asked, options: { ...defaults, ...options } });
  return {
    send: sender({}),
    base: shared.base,
    once: sender({ attemptsMax: 1 }),
    with: (options) => requesterBy(shared, { ...defaults, ...options }),
    options: defaults,
    written: () => shared.written,
  };
};

type Asked = Omit<Parameters<Send>[2], 'options'> &
  Partial<Limits> & { readonly method: string; readonly path: string; readonly options: Overrides };

const request = async (shared: Shared, asked: Asked): Promise<Response> => {
  const { transport } = shared;
  const { options, method } = asked;
  const attempt: Transport = {
    ...transport,
    ...(asked.attemptsMax && { attemptsMax: asked.attemptsMax }),
    ...(options.timeoutMs && { timeoutMs: options.timeoutMs }),
  };
  const isRead = method === 'GET' || asked.isSafe === true;
  const token = isRead ? (options.consistency ?? shared.written) : false;
  const sent = sentOf(shared.base, asked, isRead);
  try {
    return remember(shared, await sendBy(attempt, token ? withToken(sent, token) : sent));
  } catch (error) {
    // The log was restored to before the client's last write, so no read can wait for that write.
    if (!(error instanceof Problem && LOST.has(error.code) && token && token === shared.written)) throw error;
    shared.written = undefined;
    return sendBy(attempt, sent);
  }
};

const LOST: ReadonlySet<string> = new Set(['unknown_cursor', 'cursor_of_lost_history']);
const withToken = (sent: Sent, token: string): Sent => ({
  ...sent,
  headers: { 'Consistency-Token': token, ...sent.headers },
});

const sentOf = (
  base: string,
  { method, path, query, body, etag, isStreamed, options }: Asked,
  isRead: boolean,
): Sent => {
  const { signal, idempotencyKey = newKey(), ifMatch = etag ?? false, reason, signature } = options;
  const isBytes = body instanceof Blob || body instanceof ReadableStream;
  const isOnce = body instanceof ReadableStream || idempotencyKey === false;
  return {
    method,
    url: `${base}${resolved(path)}${searchOf(query)}`,
    headers: {
      Accept: 'application/json',
      ...(body !== undefined &&
        !isBytes && {
          'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        }),
      ...(!isRead && idempotencyKey !== false && { 'Idempotency-Key': idempotencyKey }),
      ...(!isRead && ifMatch !== false && { 'If-Match': ifMatch }),
      ...(!isRead && reason !== undefined && { Reason: encodeURIComponent(reason) }),
      ...(!isRead && signature !== undefined && { 'Electronic-Signature': signature }),
      ...options.headers,
    },
    body: body === undefined || isBytes ? body : JSON.stringify(body),
    isRepeatable: isRead || !isOnce,
    isStreamed: isStreamed === true,
    signal,
  };
};

/**
 * Resolves a path like a browser, but never to another origin, which would get the token, and never outside
 * the base path.
 */
const resolved = (path: string): string => {
  const { origin, pathname, search } = new URL(path, ANY_ORIGIN);
  if (!path.startsWith('/') || origin !== ANY_ORIGIN || pathname.startsWith('//'))
    throw new TypeError(`a path must begin with exactly one "/": ${path}`);
  return pathname + search;
};

const KEY_BYTES = 16;
/** Pages without TLS have no `crypto.randomUUID`. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

const searchOf = (query: object | undefined): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined)
      parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  return parameters.size === 0 ? '' : `?${parameters}`;
};

/** Answers to writes may arrive out of order. */
const remember = (shared: Shared, response: Response): Response => {
  const token = response.headers.get('Consistency-Token');
  if (token !== null && isLater(token, shared.written)) shared.written = token;
  return response;
};

const BASE = 36;
/** Whether a cursor is later than another one; true for one of another log. */
export const isLater = (cursor: string, than: string | undefined): boolean => {
  const [[log, position], [otherLog, other]] = [cursor, than ?? ''].map((each) => each.split('-')) as [
    string[],
    string[],
  ];
  return log !== otherLog || Number.parseInt(position ?? '', BASE) > Number.parseInt(other ?? '', BASE);
};
