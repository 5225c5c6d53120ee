import { ApiProblem, problemOf } from './problem.ts';
import { type Session, SignInRefused } from './session.ts';
import { letSign, wantedIn } from './sign.ts';
import { offerAgain } from './sign-in-again.ts';

type Answer<Body> = {
  readonly body: Body;
  readonly next: string | undefined;
  /** For a list with the latest first: the link to newer items, which may not exist yet. */
  readonly newer: { readonly path: string; readonly isThere: boolean } | undefined;
  /** For a search that found too few: the time of the last event examined. */
  readonly searchedTo: string | null;
  readonly location: string | undefined;
  readonly etag: string | undefined;
};

type Sent = {
  readonly body?: object | undefined;
  /** Replaces the JSON body. */
  readonly file?: Blob | undefined;
  /** The entity tag of the item: the change is refused if the item has changed since. */
  readonly ifMatch?: string | undefined;
  /** Why. */
  readonly reason?: string | undefined;
  /** The idempotency key: repeated requests with it are executed once. */
  readonly key?: string | undefined;
};

/** The public interface, called as the signed-in user. Every failure is an `ApiProblem`. */
export type Api = {
  get<Body>(path: string, signal?: AbortSignal, accept?: string): Promise<Answer<Body>>;
  /** A file, of the given media type. */
  file(path: string, accept: string): Promise<Blob>;
  post<Body>(path: string, body?: object, key?: string): Promise<Answer<Body>>;
  remove(path: string): Promise<void>;
  /** Sends a command to the address of a link. */
  send<Body>(method: string, path: string, sent?: Sent): Promise<Answer<Body>>;
  /** Opens an event stream. */
  stream(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
};

/** Without a timeout, it lasts until its signal. */
type Asking = RequestInit & { readonly waitMs?: number };

const WAIT_MAX_MS = 30_000;
/** By then every replica has projected the write. */
const READ_WITHIN_MS = 10_000;

export const openApi = (session: Session): Api => {
  // Reads after a write send its cursor as Consistency-Token.
  let written: { readonly cursor: string; readonly untilMs: number } | undefined;
  /** The timeout begins with the request: the user may have to sign in before it. */
  const once = async (path: string, { waitMs, ...init }: Asking, token: string): Promise<Response> => {
    const signals = [init.signal, waitMs && AbortSignal.timeout(waitMs)].filter((signal) => !!signal);
    const signal = AbortSignal.any(signals);
    const headers = { ...init.headers, authorization: `Bearer ${token}` };
    return fetch(path, { ...init, signal, headers }).catch((cause: unknown) => {
      if (signal.aborted && !isTimeout(signal)) throw cause;
      throw unreachable(cause);
    });
  };
  const ask = async (path: string, asking: Asking): Promise<Response> => {
    if (asking.method !== undefined) offerAgain();
    const token = await session.token().catch(notSignedIn);
    const response = await once(path, asking, token);
    const last =
      response.status === 401
        ? await once(path, asking, await session.renewed(token).catch(notSignedIn))
        : response;
    if (last.ok) return last;
    const problem = await problemOf(last);
    const wanted = wantedIn(problem);
    if (wanted === undefined || !(await letSign(wanted))) throw new ApiProblem(problem);
    return ask(path, { ...asking, headers: { ...asking.headers, 'electronic-signature': wanted.request } });
  };
  // A page that names no version acts whatever the version is, also where changes must name one.
  const write = (method: string, body?: object, key: string = crypto.randomUUID()): Asking => ({
    method,
    waitMs: WAIT_MAX_MS,
    headers: {
      'idempotency-key': key,
      'if-match': '*',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return {
    get: async (path, signal, accept = 'application/json') => {
      const after =
        written && written.untilMs > Date.now() ? { 'consistency-token': written.cursor } : undefined;
      const headers = { accept, ...after };
      return answerOf(await ask(path, { headers, waitMs: WAIT_MAX_MS, ...(signal && { signal }) }));
    },
    send: async (method, path, { body, file, ifMatch, reason, key } = {}) => {
      const init = write(method, body, key);
      const headers = {
        ...init.headers,
        ...(file && { 'content-type': file.type }),
        ...(file instanceof File && {
          'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
        }),
        ...(ifMatch && { 'if-match': ifMatch }),
        ...(reason && { reason: encodeURIComponent(reason) }),
      };
      const response = await ask(path, { ...init, headers, ...(file && { body: file }) });
      const cursor = response.headers.get('consistency-token');
      if (cursor !== null) written = { cursor, untilMs: Date.now() + READ_WITHIN_MS };
      return answerOf(response);
    },
    file: async (path, accept) => (await ask(path, { headers: { accept } })).blob(),
    post: async (path, body, key) => answerOf(await ask(path, write('POST', body, key))),
    remove: async (path) => void (await ask(path, write('DELETE'))),
    stream: (path, headers, signal) =>
      ask(path, { headers: { accept: 'text/event-stream', ...headers }, signal }),
  };
};

const unreachable = (cause: unknown): ApiProblem =>
  new ApiProblem({ status: 0, code: 'unreachable', title: 'The server could not be reached.' }, { cause });

/**
 * If the session is over, the page is about to leave for the sign-in page, or stays with input that was not
 * sent.
 */
const notSignedIn = (cause: unknown): never => {
  if (!(cause instanceof SignInRefused)) throw unreachable(cause);
  throw new ApiProblem(
    { status: 401, code: 'unauthenticated', title: 'You are no longer signed in.' },
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

/** RFC 8288. Links may be absolute; the page requests from its own origin. */
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
