/** What a session uses of the page that it is in. The types of browsers are not there where those of Node are. */
export type Page = {
  readonly location: { readonly href: string; assign(url: string): void };
  readonly history: { readonly state: unknown; replaceState(state: unknown, unused: string, url: string): void };
  readonly sessionStorage: TextStorage;
  /** Not there on pages without TLS, and neither is `crypto.subtle`. */
  readonly navigator: { readonly locks?: { request<Value>(name: string, task: () => Promise<Value>): Promise<Value> } };
  readonly indexedDB: Databases;
  addEventListener(type: 'pageshow', listener: () => void): void;
};

export type TextStorage = {
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
};

type Asked<Result> = { readonly result: Result; onsuccess: (() => void) | null; onerror: (() => void) | null; readonly error: unknown };
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
export type Databases = { open(name: string, version: number): Asked<Database> & { onupgradeneeded: (() => void) | null } };

export const textIn = (storage: TextStorage, key: string): unknown => {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    // Something else has written it: as good as nothing.
    return null;
  }
};
