import { ApiProblem, problemOf } from './problem.ts';
import { type Session, SignInRefused } from './session.ts';

type Answer<Body> = {
  readonly body: Body;
  readonly next: string | undefined;
  /** Of a list that has the latest first: where newer items are, or will be. */
  readonly newer: { readonly path: string; readonly isThere: boolean } | undefined;
  /** Of a search that has found too few: when the last event was made that it has looked at. */
  readonly searchedTo: string | null;
  readonly location: string | undefined;
  readonly etag: string | undefined;
};

type Sent = {
  readonly body?: object | undefined;
  /** Instead of a body of JSON. */
  readonly file?: Blob | undefined;
  /** The entity tag of what is changed: refused if somebody has changed it meanwhile. */
  readonly ifMatch?: string | undefined;
  /** The same for the same request sent again: it is carried out once. */
  readonly key?: string | undefined;
};

/** The interface that everybody has, asked as whoever has signed in. Every failure is an `ApiProblem`. */
export type Api = {
  get<Body>(path: string, signal?: AbortSignal, accept?: string): Promise<Answer<Body>>;
  post<Body>(path: string, body?: object): Promise<Answer<Body>>;
  remove(path: string): Promise<void>;
  /** A command to what a link leads to. */
  send<Body>(method: string, path: string, sent?: Sent): Promise<Answer<Body>>;
  /** A stream of events, which lasts as long as it does. */
  stream(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
};

const WAIT_MAX_MS = 30_000;
/** By then every replica has projected what was written. */
const READ_WITHIN_MS = 10_000;

export const openApi = (session: Session): Api => {
  // Whoever has written something reads it.
  let written: { readonly cursor: string; readonly untilMs: number } | undefined;
  const once = async (path: string, init: RequestInit, token: string): Promise<Response> =>
    fetch(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }).catch(
      (cause: unknown) => {
        if (init.signal?.aborted && !isTimeout(init.signal)) throw cause;
        throw unreachable(cause);
      },
    );
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const token = await session.token().catch(notSignedIn);
    const response = await once(path, init, token);
    const last =
      response.status === 401
        ? await once(path, init, await session.renewed(token).catch(notSignedIn))
        : response;
    if (!last.ok) throw new ApiProblem(await problemOf(last));
    return last;
  };
  const write = (method: string, body?: object): RequestInit => ({
    method,
    signal: AbortSignal.timeout(WAIT_MAX_MS),
    headers: { 'idempotency-key': crypto.randomUUID(), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return {
    get: async (path, signal, accept = 'application/json') => {
      const timeout = AbortSignal.timeout(WAIT_MAX_MS);
      const after =
        written && written.untilMs > Date.now() ? { 'consistency-token': written.cursor } : undefined;
      const headers = { accept, ...after };
      return answerOf(
        await ask(path, { headers, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }),
      );
    },
    send: async (method, path, { body, file, ifMatch, key } = {}) => {
      const init = write(method, body);
      const headers = {
        ...init.headers,
        ...(file && { 'content-type': file.type }),
        ...(ifMatch && { 'if-match': ifMatch }),
        ...(key && { 'idempotency-key': key }),
      };
      const response = await ask(path, { ...init, headers, ...(file && { body: file }) });
      const cursor = response.headers.get('consistency-token');
      if (cursor !== null) written = { cursor, untilMs: Date.now() + READ_WITHIN_MS };
      return answerOf(response);
    },
    post: async (path, body) => answerOf(await ask(path, write('POST', body))),
    remove: async (path) =>
      void (await ask(path, { method: 'DELETE', signal: AbortSignal.timeout(WAIT_MAX_MS) })),
    stream: (path, headers, signal) =>
      ask(path, { headers: { accept: 'text/event-stream', ...headers }, signal }),
  };
};

const unreachable = (cause: unknown): ApiProblem =>
  new ApiProblem({ status: 0, code: 'unreachable', title: 'The server could not be reached.' }, { cause });

/** Where somebody has to sign in again, the page is about to be left for that. */
const notSignedIn = (cause: unknown): never => {
  if (!(cause instanceof SignInRefused)) throw unreachable(cause);
  throw new ApiProblem(
    { status: 401, code: 'unauthenticated', title: 'You are not signed in any more.' },
    { cause },
  );
};

const isTimeout = ({ reason }: AbortSignal): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

const answerOf = async <Body>(response: Response): Promise<Answer<Body>> => ({
  body: (await response.json().catch(() => undefined)) as Body,
  next: nextOf(response.headers.get('link')),
  newer: newerOf(response.headers.get('link')),
  searchedTo: response.headers.get('searched-to'),
  location: response.headers.get('location') ?? undefined,
  etag: response.headers.get('etag') ?? undefined,
});

/** RFC 8288. Links may be whole addresses; the page asks where it comes from. */
export const nextOf = (link: string | null): string | undefined => pathOf(link, 'next');

const newerOf = (link: string | null): Answer<unknown>['newer'] => {
  const [there, later] = [pathOf(link, 'prev'), pathOf(link, 'poll')];
  const path = there ?? later;
  return path === undefined ? undefined : { path, isThere: there !== undefined };
};

const pathOf = (link: string | null, rel: string): string | undefined => {
  const href = new RegExp(`<([^>]+)>;\\s*rel="${rel}"`).exec(link ?? '')?.[1];
  if (href === undefined) return undefined;
  const { pathname, search } = new URL(href, 'http://relative');
  return pathname + search;
};
