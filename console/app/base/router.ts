import { useEffect, useState } from 'preact/hooks';
import { isOfOwners, type Route, routeOf } from './paths.ts';

export type { Route } from './paths.ts';

const MOVED = 'console:moved';

export const go = (path: string): void => {
  history.pushState(null, '', path);
  dispatchEvent(new Event(MOVED));
};

/** Changes the address without a new step in the history of the browser. */
export const put = (path: string): void => {
  history.replaceState(null, '', path);
  dispatchEvent(new Event(MOVED));
};

const here = (): string => location.pathname + location.search;

/** The current address. Links within the console change it without loading the page again. */
export const useRoute = (): Route => {
  const [path, setPath] = useState(here);
  useEffect(() => {
    const look = () => setPath(here());
    const follow = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const href = link?.getAttribute('href') ?? '';
      const isPlain =
        event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
      const isOurs = href.startsWith('/console') || isOfOwners(href.split('?')[0] ?? '');
      if (!isOurs || !isPlain || event.defaultPrevented) return;
      event.preventDefault();
      go(href);
    };
    document.addEventListener('click', follow);
    for (const name of ['popstate', MOVED]) addEventListener(name, look);
    return () => {
      document.removeEventListener('click', follow);
      for (const name of ['popstate', MOVED]) removeEventListener(name, look);
    };
  }, []);
  const [pathname = '', search = ''] = path.split('?');
  return routeOf(pathname, search);
};
