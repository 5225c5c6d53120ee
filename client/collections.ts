import { listingOf, type Page, pageIn } from './pages.ts';
import { jsonIn } from './problem.ts';
import { SOURCE } from './source.ts';
import type { ReadOptions, Target, WriteOptions } from './types/options.ts';

/** The methods of a collection, by its path: REST has the same ones for every aggregate, list and view. */

export type Send = (
  method: string,
  path: string,
  asked: {
    readonly query?: object | undefined;
    readonly body?: unknown;
    /** The ETag that the item must have. */
    readonly etag?: string | undefined;
    readonly options?: (ReadOptions & WriteOptions) | undefined;
    /** The answer is a file or a stream. */
    readonly isStreamed?: boolean;
    /** A safe request, although it is not a GET. */
    readonly isSafe?: boolean;
  },
) => Promise<Response>;
type Write = WriteOptions | undefined;
type Read = ReadOptions | undefined;

/** The name in paths: `lineItems` is `line-items`. */
export const kebab = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * The collection of this name below a path. Any method that the client does not define is a command of the
 * domain.
 */
export const collectionOf = (send: Send, under: string, name: string, etagAbove?: string): object => {
  const path = `${under}/${kebab(name)}`;
  const at = (id: number | string): string => `${path}/${segmentOf(id)}`;
  const onItem = async (
    method: string,
    target: Target | string,
    rest: { readonly suffix?: string; readonly body?: unknown; readonly options: Write },
  ) =>
    send(method, `${at(idOf(target))}${rest.suffix ?? ''}`, {
      body: rest.body,
      etag: etagOf(target) ?? etagAbove,
      options: rest.options,
    });
  const act = async (target: Target, command: string, body: unknown, options: Write) =>
    writtenIn(await onItem('POST', target, { suffix: `/${kebab(command)}`, body, options }));
  const create = async (body: unknown, options: Write) =>
    writtenIn(await send('POST', path, { body, etag: etagAbove, options }));
  const edit = async (target: Target, body: unknown, options: Write) =>
    writtenIn(await onItem('PATCH', target, { body, options }));
  const remove = async (target: Target, options: Write) => void (await onItem('DELETE', target, { options }));
  const pageBy =
    (of: string, query: object | undefined, options: Read) =>
    async (after: string | undefined): Promise<Page<unknown>> =>
      pageIn(
        await send('GET', of, {
          query: after === undefined ? query : { ...query, before: undefined, after },
          options,
        }),
      );
  const methods = {
    get: async (id: number | string, query: object | undefined, options: Read) =>
      itemIn(await send('GET', at(id), { query, options })),
    list: (query: object | undefined, options: Read) => listingOf(pageBy(path, query, options)),
    aggregate: grouped(send, path),
    history: (id: number, query: object | undefined, options: Read) =>
      listingOf(pageBy(`${at(id)}/history`, query, options)),
    find: async (key: object, options: Read) =>
      (await pageBy(path, { ...key, limit: 1 }, options)(undefined)).items[0],
    create,
    add: create,
    edit,
    replace: async (target: Target, body: unknown, options: Write) =>
      writtenIn(await onItem('PUT', target, { body, options })),
    delete: remove,
    remove,
    putFile: async (
      target: Target,
      field: string,
      body: Blob,
      { type, name, ...options }: WriteOptions & FileOptions = {},
    ) => {
      const headers = { ...headersOf(body, { type, name }), ...options.headers };
      return writtenIn(
        await onItem('PUT', target, { suffix: `/${kebab(field)}`, body, options: { ...options, headers } }),
      );
    },
    deleteFile: async (target: Target, field: string, options: Write) =>
      void (await onItem('DELETE', target, { suffix: `/${kebab(field)}`, options })),
    command: (target: Target, command: string, body?: unknown, options?: Write) =>
      act(target, command, body, options),
    of: (target: Target) => named((list) => collectionOf(send, at(idOf(target)), list, etagOf(target))),
  };
  return named(
    (command) => (target: Target, body?: unknown, options?: Write) => act(target, command, body, options),
    { ...methods, [SOURCE]: path },
  );
};

const grouped =
  (send: Send, path: string) =>
  async (asked: object = {}, options: Read): Promise<unknown> => {
    // An empty list is the absence of the parameter.
    const given = Object.entries(asked).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
    return jsonIn(await send('GET', `${path}/aggregate`, { query: Object.fromEntries(given), options }));
  };

type FileOptions = { readonly type?: string | undefined; readonly name?: string | undefined };

/** A `File` has a name of its own, a `Blob` has none. */
const headersOf = (body: Blob, { type = body.type, name = (body as File).name }: FileOptions) => ({
  'Content-Type': type,
  ...(name && { 'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }),
});

/**
 * Has the members of `has`; other names call `make`. Never has `then`, so that `await` does not take it for a
 * promise.
 */
const named = (make: (name: string) => unknown, has: object = {}): object =>
  new Proxy(has, {
    get: (target, name) =>
      typeof name === 'symbol' || name === 'then' || Object.hasOwn(target, name)
        ? Reflect.get(target, name)
        : make(name),
  });

/** With one of these as id, the path would name another resource. */
const NO_IDS: ReadonlySet<unknown> = new Set(['', '.', '..']);
const segmentOf = (id: number | string): string => {
  if (NO_IDS.has(id)) throw new TypeError(`not an id: "${id}"`);
  return encodeURIComponent(id);
};

const idOf = (target: Target | string): number | string => (typeof target === 'object' ? target.id : target);

/** The ETags of items that were read or written, as long as the caller keeps the items. */
const etags = new WeakMap<object, string>();
const etagOf = (target: Target | string): string | undefined =>
  typeof target === 'object' ? etags.get(target) : undefined;

const itemIn = async (response: Response): Promise<unknown> => {
  const item = await jsonIn<object>(response);
  const etag = response.headers.get('ETag');
  // An item that the caller may read only in part has an ETag without a version, which fits no `If-Match`.
  if (etag !== null && VERSIONED.test(etag)) etags.set(item, etag);
  return item;
};
const VERSIONED = /^(?:W\/)?"\d+-/;

/** Undefined if the answer has no body. */
const writtenIn = async (response: Response): Promise<unknown> => {
  if (response.body === null) return undefined;
  const written = await jsonIn<{ readonly version?: number }>(response);
  const etag = response.headers.get('ETag') ?? `"${written.version}-"`;
  etags.set(written, etag);
  return written;
};
