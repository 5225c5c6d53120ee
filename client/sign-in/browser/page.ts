import { Problem } from '../../problem.ts';

/** The parts of a page that a session uses: the types of browsers are not available beside those of Node. */
export type Page = {
  readonly location: { readonly href: string; assign(url: string): void };
  readonly history: {
    readonly state: unknown;
    replaceState(state: unknown, unused: string, url: string): void;
  };
  readonly sessionStorage: TextStorage;
  /** Missing on pages without TLS, like `crypto.subtle`. */
  readonly navigator: { readonly locks?: Locks };
  readonly indexedDB: Databases;
  addEventListener(type: 'pageshow', listener: (event: { readonly persisted: boolean }) => void): void;
  /** Null if the browser blocks it. */
  open(url: string, target: '_blank', features: string): OpenWindow | null;
  close(): void;
};

export type OpenWindow = { opener: unknown; location: { href: string }; close(): void };

type Locks = {
  /** The signal ends the wait for the lock; it has no effect once the lock is held. */
  request<Value>(
    name: string,
    options: { readonly signal: AbortSignal },
    task: () => Promise<Value>,
  ): Promise<Value>;
};

type TextStorage = {
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
};

type Asked<Result> = {
  readonly result: Result;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
  readonly error: unknown;
};
type ObjectStore = { get(key: string): Asked<unknown>; put(value: unknown, key: string): unknown };
type Transaction = {
  objectStore(name: string): ObjectStore;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  readonly error: unknown;
};
type Database = {
  createObjectStore(name: string): unknown;
  transaction(store: string, mode: 'readwrite'): Transaction;
  close(): void;
};
type Databases = {
  open(name: string, version: number): Asked<Database> & { onupgradeneeded: (() => void) | null };
};

/** Reads from the tab's storage. Even reading `sessionStorage` throws if the browser blocks it. */
export const textIn = (page: Pick<Page, 'sessionStorage'>, key: string): unknown => {
  try {
    return JSON.parse(page.sessionStorage.getItem(key) ?? 'null');
  } catch {
    // Blocked, or written by something else: treat it as empty.
    return null;
  }
};

/** The browser cannot store a required value: the user has blocked it for this page, or there is no room. */
export const throwBlocked = (cause: unknown): never => {
  throw new Problem({
    code: 'storage_blocked',
    status: 0,
    message: `the browser blocks the storage of this page: ${cause}`,
  });
};
