import { collectionOf, type Send } from './collections.ts';
import * as streams from './follow.ts';
import { SILENCE_MAX_MS } from './follow.ts';
import { type Names, sendFor } from './names.ts';
import { listingOf, pageIn } from './pages.ts';
import { jsonIn, Problem } from './problem.ts';
import { type Options, type Requester, requesterOf } from './requests.ts';
import { SOURCE } from './source.ts';
import type { Client } from './types/client.ts';
import type { EventQuery, FollowOptions } from './types/events.ts';
import type { WriteOptions } from './types/options.ts';

/**
 * A client of a domain, typed by its declaration: `createClient<typeof expenses>({ url })`. Nothing of the
 * domain exists at run time: paths follow from the names (`client.lineItems.of(7)` is `/line-items/7`), and
 * the compiler checks the calls.
 */
export const createClient = <Domain>(options: Options): Client<Domain> =>
  clientOf(requesterOf(options), { known: undefined }) as Client<Domain>;

const clientOf = (requester: Requester, names: Names): object => {
  const { send } = requester;
  const kernel: Readonly<Record<string | symbol, unknown>> & { readonly written?: string | undefined } = {
    me: async (options?: object) => jsonIn(await send('GET', '/me', { options })),
    follow: (query: EventQuery<string> = {}, options: FollowOptions = {}) =>
      followBy(requester, query, { ...requester.options, ...options }),
    events: {
      list: (query: EventQuery<string> & { readonly limit?: number } = {}, options?: object) =>
        listingOf(async (after) =>
          pageIn(
            await send('GET', '/events', {
              query: { ...parametersOf(query), ...(after && { after }) },
              options,
            }),
          ),
        ),
    },
    files: {
      get: (path: string, options?: object) => send('GET', uploadAt(path), { options, isStreamed: true }),
      address: async (path: string, options?: object) =>
        jsonIn(await send('GET', `${uploadAt(path)}/address`, { options })),
      // A picture of another site has its own address, to which no token goes.
      url: async (path: string, options?: object) => {
        if (/^https?:\/\//.test(path)) return path;
        const answer = await send('GET', `${uploadAt(path)}/address`, { options });
        return `${requester.base}${(await jsonIn<{ readonly href: string }>(answer)).href}`;
      },
    },
    // Only the caller knows whether such a path supports idempotency keys.
    request: (method: string, path: string, body?: unknown, options: WriteOptions = {}) =>
      send(method, path, {
        body,
        options: method === 'GET' ? options : { idempotencyKey: false, ...options },
      }),
    with: (options: object) => clientOf(requester.with(options), names),
    isProblem: (error: unknown, ...codes: readonly string[]) =>
      error instanceof Problem && (codes.length === 0 || codes.includes(error.code)),
    get written() {
      return requester.written();
    },
    [SOURCE]: requester,
  };
  return collections(kernel, send, names);
};

/** The client's own members; every other name is a collection. */
const collections = (kernel: object, send: Send, names: Names): object =>
  new Proxy(kernel, {
    get: (target, name) =>
      typeof name === 'symbol' || name === 'then' || Object.hasOwn(target, name)
        ? Reflect.get(target, name)
        : collectionOf(sendFor(send, name, names), '', name),
  });

const followBy = (
  requester: Requester,
  { after, ...query }: EventQuery<string>,
  { silenceMaxMs = SILENCE_MAX_MS, ...options }: FollowOptions,
) => {
  const { send, once } = requester;
  return streams.follow({
    after,
    silenceMaxMs,
    signal: options.signal,
    begin: async (signal) =>
      'since' in query
        ? undefined
        : readCursor(
            await send('POST', '/graphql', {
              body: { query: '{ cursor }' },
              options: { ...options, idempotencyKey: false, signal },
              isSafe: true,
            }),
          ),
    open: (cursor, signal) =>
      once('GET', '/events', {
        query: { ...parametersOf(query), ...(cursor !== undefined && { after: cursor }) },
        options: {
          ...options,
          signal,
          consistency: false,
          headers: { Accept: 'text/event-stream', ...options.headers },
        },
        isStreamed: true,
      }),
  });
};

/** The current cursor, so that no event before the first one read is missed. */
const readCursor = async (answer: Response): Promise<string> => {
  const { data } = await jsonIn<{ readonly data?: { readonly cursor?: string } }>(answer);
  if (data?.cursor === undefined)
    throw new Problem({
      code: 'unavailable',
      status: 503,
      message: 'the server did not return a cursor to start from',
    });
  return data.cursor;
};

const parametersOf = ({ types, of, ...query }: EventQuery<string>): object => ({
  ...query,
  ...of,
  ...(types && { types: types.join(',') }),
});

const UPLOAD = /^\/uploads\/[\w.-]+$/;
/** Without the details that the address of a file states. */
const uploadAt = (address: string): string => {
  const [path = ''] = address.split('?');
  if (!UPLOAD.test(path)) throw new TypeError(`not the path of an upload: ${path}`);
  return path;
};
