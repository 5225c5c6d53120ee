import type { PendingMutation, SyncConfig } from '@tanstack/db';
import type { Requester } from '../client/requests.ts';
import { SOURCE } from '../client/source.ts';
import { backoffMs, wait } from '../client/wait.ts';
import { createCopy, type Key, type Row, type Sink } from './copy.ts';
import { isOfLostCursor } from './cursors.ts';
import { followList } from './list.ts';
import { changeOf, sendAll } from './mutations.ts';
import { type Asked, NoStream, type Source } from './source.ts';
import { followStream } from './stream.ts';
import type {
  AnnalsCollectionConfig,
  AnyClient,
  CollectionOptions,
  KeyOf,
  Listed,
  RowOf,
  Utils,
} from './types.ts';

const ROWS_MAX = 1_000;
const SETTLE_MS = 20_000;
const RETRY_MAX_MS = 10_000;

/**
 * The options of a TanStack DB collection that is the copy of a list or a view, kept up to date.
 *
 *     const open = createCollection(annalsCollection({
 *       client,
 *       list: client.tickets,
 *       query: { status: 'open' },
 *       onUpdate: ({ original, changes, options }) => client.tickets.triage(original.id, changes, options),
 *     }));
 */
export const annalsCollection = <C extends AnyClient, L extends Listed>(
  options: CollectionOptions<C, L>,
): AnnalsCollectionConfig<RowOf<L>, KeyOf<RowOf<L>>> => {
  type T = RowOf<L>;
  const { client, list, query = {}, subscribe, limit = ROWS_MAX, settleMs = SETTLE_MS, ...rest } = options;
  const { onInsert, onUpdate, onDelete, ...config } = rest;
  const requester = sourceOf<Requester>(client, 'client');
  const path = sourceOf<string>(list, 'list');
  const asked: Asked = { requester, path, query, types: subscribe as never, limit, keyOf: keyIn(path) };
  const copy = createCopy({ limit, isSame });
  const running: Running = { source: undefined, retry: undefined };
  const reached: Utils<T>['reached'] = async (token = requester.written()) => {
    if (token === undefined) return true;
    const reached = copy.reached(token, settleMs);
    // If it fails, the copy gets the write when it is connected again.
    running.source?.hurry(token).catch(() => {});
    return reached;
  };
  const read = async (key: Key): Promise<T> => itemAt<T>(list, key);
  const handle = <H>(handler: H | undefined) =>
    handler && {
      send: async ({ transaction }: { readonly transaction: { readonly mutations: readonly unknown[] } }) =>
        sendAll(
          transaction.mutations as readonly PendingMutation<T>[],
          (mutation) => (handler as (change: unknown) => Promise<unknown>)(changeOf(mutation, read)),
          { requester, reached },
        ),
    };
  const [inserting, updating, deleting] = [handle(onInsert), handle(onUpdate), handle(onDelete)];
  return {
    ...config,
    getKey: (row) => asked.keyOf(row) as KeyOf<T>,
    sync: {
      rowUpdateMode: 'full',
      sync(parameters) {
        const leave = new AbortController();
        const sink = copy.start(parameters as unknown as Parameters<SyncConfig<Row, Key>['sync']>[0]);
        void keepUpToDate(asked, sink, { running, signal: leave.signal });
        return () => {
          leave.abort();
          running.source = undefined;
          copy.stop();
        };
      },
    },
    ...(inserting && { onInsert: inserting.send }),
    ...(updating && { onUpdate: updating.send }),
    ...(deleting && { onDelete: deleting.send }),
    utils: {
      connection: copy.connection,
      onConnection: copy.onConnection,
      reached,
      retry: () => running.retry?.(),
      draft: (fields) => ({ id: --lastDraft, _links: {}, ...fields }) as unknown as T,
    },
  };
};

/** Temporary ids are negative: the server gives none of them. */
let lastDraft = 0;

type Running = { source: Source | undefined; retry: (() => void) | undefined };

const keepUpToDate = async (
  asked: Asked,
  sink: Sink,
  { running, signal }: { readonly running: Running; readonly signal: AbortSignal },
): Promise<void> => {
  let make = followStream;
  for (let failures = 0; !signal.aborted; ) {
    const ended = new AbortController();
    const source = make(asked, sink, AbortSignal.any([signal, ended.signal]));
    running.source = source;
    try {
      await source.run();
    } catch (error) {
      ended.abort();
      if (signal.aborted) return;
      if (error instanceof NoStream && make === followStream) make = followList;
      else if (isOfLostCursor(error)) await wait(backoffMs(failures++, RETRY_MAX_MS), signal).catch(() => {});
      else {
        sink.refused(error);
        await retried(running, signal);
      }
    }
  }
};

const retried = (running: Running, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      running.retry = undefined;
      signal.removeEventListener('abort', end);
      resolve();
    };
    running.retry = end;
    signal.addEventListener('abort', end, { once: true });
  });

const sourceOf = <Value>(of: object, name: string): Value => {
  const source = (of as { readonly [SOURCE]?: Value })[SOURCE];
  if (source === undefined)
    throw new TypeError(
      `\`${name}\` is not of a client of this version of annals: pass the client of createClient, and one of its lists.`,
    );
  return source;
};

type Linked = { readonly id?: unknown; readonly _links?: { readonly self?: { readonly href?: string } } };

/** Rows without an id have the path of their key in their link. */
const keyIn =
  (path: string) =>
  (row: Row): Key => {
    const { id, _links } = row as Linked;
    if (typeof id === 'number' || typeof id === 'string') return id;
    const { href = '' } = _links?.self ?? {};
    return decodeURIComponent(href.slice(href.lastIndexOf(`${path}/`) + path.length + 1));
  };

const itemAt = async <T>(list: object, key: Key): Promise<T> =>
  (list as { get(id: Key): Promise<T> }).get(key);

const isSame = (one: Row, other: Row): boolean => JSON.stringify(one) === JSON.stringify(other);
