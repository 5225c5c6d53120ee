import type { SyncConfig } from '@tanstack/db';
import { hasReached, laterOf } from './cursors.ts';
import type { Connection } from './types.ts';

/** The copy of a list in a collection. Sources report to it what the server has. */

export type Row = object;
export type Key = string | number;
type SyncParameters = Parameters<SyncConfig<Row, Key>['sync']>[0];

export type Sink = {
  /** A connection has been opened. */
  connected(): void;
  disconnected(): void;
  /** All rows, as of a cursor. Nobody sees a part of them, or the rows between an old and a new log. */
  replace(rows: ReadonlyMap<Key, Row>, as: Replacement): void;
  /** One row as it is now; undefined if it was removed. */
  change(key: Key, row: Row | undefined): void;
  /** The copy has everything up to this cursor, after the changes that were reported. */
  moved(cursor: string | undefined): void;
  /** The server refuses to show the list. */
  refused(error: unknown): void;
};
type Replacement = {
  readonly cursor: string | undefined;
  /** The former rows were of another log, of other rights, or of a read model that was rebuilt. */
  readonly isReset: boolean;
  /** False if there are more rows than the collection takes. */
  readonly isComplete: boolean;
};

export type Copy = {
  readonly connection: () => Connection;
  readonly onConnection: (listener: () => void) => () => void;
  /** Resolves to whether the copy has the write within the timeout. */
  reached(token: string, timeoutMs: number): Promise<boolean>;
  start(parameters: SyncParameters): Sink;
  /** Nobody waits for a copy that is not kept up to date. */
  stop(): void;
};

type Waiter = { readonly token: string; readonly resolve: (isReached: boolean) => void };
type Pending = Map<Key, Row | undefined>;

const INITIAL: Connection = {
  state: 'connecting',
  cursor: undefined,
  isComplete: true,
  error: undefined,
};
/** The maximum number of changes in one transaction. */
const CHANGES_MAX = 500;

type Options = {
  /** The maximum number of rows. */
  readonly limit: number;
  isSame(one: Row, other: Row): boolean;
};

export const createCopy = (options: Options): Copy => {
  const listeners = new Set<() => void>();
  const waiters = new Set<Waiter>();
  let connection = INITIAL;
  let isRunning = false;

  const settle = (isIt: (waiter: Waiter) => boolean, isReached: boolean): void => {
    for (const waiter of [...waiters])
      if (isIt(waiter)) {
        waiters.delete(waiter);
        waiter.resolve(isReached);
      }
  };
  const show = (change: Partial<Connection>): void => {
    const next = { ...connection, ...change };
    if ((Object.keys(next) as (keyof Connection)[]).every((name) => next[name] === connection[name])) return;
    connection = next;
    for (const listener of [...listeners]) listener();
    if (next.state === 'refused') settle(() => true, false);
    else settle(({ token }) => hasReached(next.cursor, token), true);
  };
  return {
    start(parameters) {
      isRunning = true;
      connection = INITIAL;
      return sinkOf(parameters, {
        ...options,
        show,
        stateOf: () => (isRunning ? connection.state : undefined),
      });
    },
    connection: () => connection,
    onConnection(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    reached(token, timeoutMs) {
      if (!isRunning || connection.state === 'refused') return Promise.resolve(false);
      if (hasReached(connection.cursor, token)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle((each) => each === waiter, false), timeoutMs);
        const waiter: Waiter = {
          token,
          resolve(isReached) {
            clearTimeout(timer);
            resolve(isReached);
          },
        };
        waiters.add(waiter);
      });
    },
    stop() {
      isRunning = false;
      connection = INITIAL;
      settle(() => true, false);
    },
  };
};

type Context = Options & {
  show(change: Partial<Connection>): void;
  /** Undefined once the collection is no longer kept up to date. */
  stateOf(): Connection['state'] | undefined;
};

const sinkOf = (parameters: SyncParameters, { limit, isSame, show, stateOf }: Context): Sink => {
  const { begin, write, commit, truncate, markReady, markError, collection } = parameters;
  const rows = new Map<Key, Row>();
  const pending: Pending = new Map();
  let cursor: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const put = (key: Key, row: Row | undefined): void => {
    const before = rows.get(key);
    if (row === undefined) {
      if (before !== undefined) write({ type: 'delete', key });
      rows.delete(key);
    } else if (before === undefined || !isSame(before, row)) {
      write({ type: before === undefined ? 'insert' : 'update', value: row });
      rows.set(key, row);
    }
  };
  const putAll = (all: ReadonlyMap<Key, Row | undefined>, isReset = false): void => {
    begin();
    if (isReset && rows.size > 0) {
      truncate();
      rows.clear();
    }
    for (const [key, row] of all) put(key, row);
    commit();
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size > 0) putAll(pending);
    pending.clear();
    if (stateOf() !== undefined) show({ cursor });
  };
  return {
    connected: () => show({ state: 'live', error: undefined }),
    disconnected() {
      if (stateOf() === 'live') show({ state: 'connecting' });
    },
    replace(all, { isReset, isComplete, cursor: asOf }) {
      pending.clear();
      const missing = [...rows.keys()].filter((key) => !all.has(key));
      putAll(new Map([...missing.map((key) => [key, undefined] as const), ...all]), isReset);
      cursor = isReset ? asOf : laterOf(asOf, cursor);
      show({ isComplete });
      flush();
      markReady();
    },
    change(key, row) {
      const isNew = row !== undefined && !rows.has(key) && pending.get(key) === undefined;
      if (isNew && rows.size + pending.size >= limit) {
        show({ isComplete: false });
        return;
      }
      pending.set(key, row);
      if (pending.size >= CHANGES_MAX) flush();
      else timer ??= setTimeout(flush, 0);
    },
    moved(to) {
      cursor = laterOf(to, cursor);
      if (timer === undefined) flush();
    },
    refused(error) {
      pending.clear();
      putAll(new Map(), true);
      show({ state: 'refused', error });
      if (collection.status === 'loading') markError(error);
    },
  };
};
