import { follow, SILENCE_MAX_MS } from '../client/follow.ts';
import type { Requester } from '../client/requests.ts';
import { isStream, NoStream, STREAM_TYPES } from './source.ts';

/** One stream of events for all collections of a client: a browser opens few connections. */

export type Subscriber = {
  opened(): void;
  /** Something has happened, or time has passed. */
  moved(cursor: string): void;
  ended(): void;
  failed(error: unknown): void;
};
type Shared = { readonly subscribers: Set<Subscriber>; readonly leave: AbortController; isOpen: boolean };

const open = new WeakMap<Requester, Map<string, Shared>>();

export const subscribe = (
  requester: Requester,
  types: readonly string[] | undefined,
  subscriber: Subscriber,
): (() => void) => {
  const name = types === undefined ? '' : [...new Set(types)].toSorted().join(',');
  const ofClient = open.get(requester) ?? new Map<string, Shared>();
  open.set(requester, ofClient);
  const shared = ofClient.get(name) ?? {
    subscribers: new Set(),
    leave: new AbortController(),
    isOpen: false,
  };
  shared.subscribers.add(subscriber);
  if (!ofClient.has(name)) {
    ofClient.set(name, shared);
    void run(requester, name, shared).catch((error: unknown) => {
      if (ofClient.get(name) === shared) ofClient.delete(name);
      for (const each of [...shared.subscribers]) each.failed(error);
    });
  } else if (shared.isOpen) subscriber.opened();
  return () => {
    shared.subscribers.delete(subscriber);
    if (shared.subscribers.size > 0) return;
    if (ofClient.get(name) === shared) ofClient.delete(name);
    shared.leave.abort();
  };
};

const run = async (requester: Requester, types: string, shared: Shared): Promise<void> => {
  const { subscribers, leave } = shared;
  const stream = follow({
    begin: async () => undefined,
    after: undefined,
    silenceMaxMs: SILENCE_MAX_MS,
    signal: leave.signal,
    watch: {
      moved(cursor) {
        for (const each of [...subscribers]) each.moved(cursor);
      },
      ended() {
        shared.isOpen = false;
        for (const each of [...subscribers]) each.ended();
      },
    },
    async open(after, signal) {
      const response = await requester.once('GET', '/events', {
        query: { types: types || undefined, after },
        options: { signal, consistency: false, headers: { Accept: STREAM_TYPES } },
        isStreamed: true,
      });
      if (!(await isStream(response))) throw new NoStream();
      shared.isOpen = true;
      for (const each of [...subscribers]) each.opened();
      return response;
    },
  });
  for await (const _event of stream);
};
