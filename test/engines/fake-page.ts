import type { Page } from '../../client/sign-in/browser/page.ts';

/** A page without a browser, whose storage a test can block, with the locks and channels of Node. */

export const HOME = 'https://page.example/';

const blocked = (): never => {
  throw new DOMException('the user has blocked it', 'SecurityError');
};

type Options = {
  readonly isTabBlocked?: boolean;
  readonly href?: string;
  /** The browser opens no windows. */
  readonly isPopupBlocked?: boolean;
  /** The content of `sessionStorage`: that of the page before, in the same tab. */
  readonly kept?: Map<string, string>;
};

/** A page in which IndexedDB is blocked, and optionally `sessionStorage`. */
export const openPage = ({
  isTabBlocked = false,
  href = HOME,
  isPopupBlocked = false,
  kept = new Map(),
}: Options = {}) => {
  const shown: ((event: { readonly persisted: boolean }) => void)[] = [];
  const went: string[] = [];
  const windows: { opener: unknown; location: { href: string }; isClosed: boolean; close(): void }[] = [];
  let isClosed = false;
  let here = href;
  const page: Page = {
    location: {
      get href() {
        return here;
      },
      assign: (to: string) => void went.push(to),
    },
    history: {
      state: null,
      replaceState: (_state: unknown, _unused: string, to: string) => {
        here = to;
      },
    },
    get sessionStorage() {
      return isTabBlocked
        ? blocked()
        : {
            getItem: (key: string) => kept.get(key) ?? null,
            setItem: (key: string, text: string) => void kept.set(key, text),
            removeItem: (key: string) => void kept.delete(key),
          };
    },
    get indexedDB() {
      return blocked();
    },
    navigator: globalThis.navigator as unknown as Page['navigator'],
    addEventListener: (_type: string, listener: (event: { readonly persisted: boolean }) => void) =>
      void shown.push(listener),
    open(href: string) {
      if (isPopupBlocked) return null;
      const opened: (typeof windows)[number] = {
        opener: page,
        location: { href },
        isClosed: false,
        close() {
          opened.isClosed = true;
        },
      };
      windows.push(opened);
      return opened;
    },
    close() {
      isClosed = true;
    },
  };
  const visit = (to: string) => {
    here = to;
  };
  return { page, kept, shown, went, windows, visit, isClosed: () => isClosed };
};
