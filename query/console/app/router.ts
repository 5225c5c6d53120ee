import { useEffect, useState } from 'preact/hooks';

/** Every address below `/console`, by what is shown there. */
const PATHS = {
  overview: '/console',
  feed: '/console/feed',
  data: '/console/data',
  dataList: '/console/data/:kind',
  dataNew: '/console/data/:kind/new',
  dataItem: '/console/data/:kind/:id',
  dataCommand: '/console/data/:kind/:id/do/:command',
  dataUnder: '/console/data/:kind/:id/under/:child',
  dataNewUnder: '/console/data/:kind/:id/new/:child',
  dataAdd: '/console/data/:kind/:id/list/:list/add',
  dataListed: '/console/data/:kind/:id/list/:list/:item',
  item: '/console/items/:kind/:id',
  webhooks: '/console/webhooks',
  webhook: '/console/webhooks/:id',
  delivery: '/console/webhooks/:id/deliveries/:delivery',
  parked: '/console/parked',
  proof: '/console/proof',
  orders: '/console/orders',
  order: '/console/orders/:id',
  clients: '/console/clients',
  newClient: '/console/clients/new',
  client: '/console/clients/:id',
} as const;

export type View = keyof typeof PATHS;
export type Place = {
  readonly view: View | 'unknown';
  readonly parameters: Readonly<Record<string, string>>;
  readonly search: URLSearchParams;
};

export const placeOf = (pathname: string, search: string): Place => {
  for (const [view, pattern] of Object.entries(PATHS)) {
    const parameters = match(pattern, pathname);
    if (parameters !== undefined) return { view: view as View, parameters, search: new URLSearchParams(search) };
  }
  return { view: 'unknown', parameters: {}, search: new URLSearchParams(search) };
};

const match = (pattern: string, pathname: string): Record<string, string> | undefined => {
  const wanted = pattern.split('/');
  const given = pathname.replace(/\/$/, '').split('/');
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? '';
    if (part.startsWith(':')) parameters[part.slice(1)] = decodePart(text);
    else if (part !== text) return undefined;
  }
  return parameters;
};

const decodePart = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const MOVED = 'console:moved';

export const go = (path: string): void => {
  history.pushState(null, '', path);
  dispatchEvent(new Event(MOVED));
};

/** For what is part of the address, and no step that anybody goes back. */
export const put = (path: string): void => {
  history.replaceState(null, '', path);
  dispatchEvent(new Event(MOVED));
};

const here = (): string => location.pathname + location.search;

/** Where we are; links within the console lead there without asking for the page again. */
export const usePlace = (): Place => {
  const [path, setPath] = useState(here);
  useEffect(() => {
    const look = () => setPath(here());
    const follow = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const href = link?.getAttribute('href') ?? '';
      const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
      if (!href.startsWith('/console') || !isPlain || event.defaultPrevented) return;
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
  return placeOf(pathname, search);
};
