/**
 * A browser without scripts and styles: it keeps cookies, finds forms, and shows every redirect before it
 * follows it.
 */
export type HandBrowser = {
  readonly cookies: Map<string, { value: string; path: string }>;
  get(url: string, headers?: Record<string, string>): Promise<Seen>;
  post(url: string, fields: Fields, headers?: Record<string, string>): Promise<Seen>;
  /** Follows redirects as long as they stay with the same origin. */
  follow(seen: Seen): Promise<Seen>;
};

type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[] | string;

export type Seen = {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly location: string | undefined;
  readonly body: string;
  /** The first form: its target, and its hidden fields. */
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
};

const REDIRECTS_MAX = 10;

/** With another `fetch` if the visited hosts listen elsewhere. */
export const openHandBrowser = (fetchIt: typeof fetch = fetch): HandBrowser => {
  const cookies: HandBrowser['cookies'] = new Map();
  const ask = async (url: string, init: RequestInit & { headers: Record<string, string> }): Promise<Seen> => {
    const { pathname } = new URL(url);
    const sent = [...cookies]
      .filter(([, { path }]) => isUnder(pathname, path))
      .map(([name, { value }]) => `${name}=${value}`);
    const response = await fetchIt(url, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(sent.length > 0 && { cookie: sent.join('; ') }) },
    });
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    return seenOf(url, response, await response.text());
  };
  const get: HandBrowser['get'] = (url, headers = {}) =>
    ask(url, { headers: { accept: 'text/html', ...headers } });
  return {
    cookies,
    get,
    post: (url, fields, headers = {}) =>
      ask(url, {
        method: 'POST',
        body: bodyOf(fields),
        headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    async follow(seen) {
      let current = seen;
      for (let times = 0; times < REDIRECTS_MAX && current.location !== undefined; times += 1) {
        if (new URL(current.location).origin !== new URL(seen.url).origin) break;
        current = await get(current.location);
      }
      return current;
    },
  };
};

const bodyOf = (fields: Fields): string =>
  typeof fields === 'string' ? fields : new URLSearchParams(fields as Record<string, string>).toString();

/** RFC 6265, section 5.1.4. */
const isUnder = (pathname: string, path: string): boolean =>
  pathname === path || (pathname.startsWith(path) && (path.endsWith('/') || pathname[path.length] === '/'));

const keep = (cookies: HandBrowser['cookies'], line: string): void => {
  const [pair = '', ...attributes] = line.split(/;\s*/);
  const [name = '', ...rest] = pair.split('=');
  const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length) ?? '/';
  const isOver = attributes.some((attribute) => /^expires=thu, 01 jan 1970/i.test(attribute));
  if (isOver) cookies.delete(name);
  else cookies.set(name, { value: rest.join('='), path });
};

const seenOf = (url: string, response: Response, body: string): Seen => {
  const location = response.headers.get('location');
  const action = /<form[^>]*action="([^"]*)"/.exec(body)?.[1];
  const hidden = [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value],
  );
  return {
    url,
    status: response.status,
    headers: response.headers,
    location: location === null ? undefined : new URL(location, url).href,
    body,
    action: action === undefined ? url : new URL(action, url).href,
    hidden: Object.fromEntries(hidden),
  };
};
