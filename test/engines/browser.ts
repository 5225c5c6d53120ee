import { type AuthByHttp, ISSUER, PASSWORD, type TestPerson } from './auth-database.ts';

/**
 * The features of a browser that signing in needs: it stores cookies, follows redirects within the server,
 * and fills in forms.
 */
type Browser = {
  /**
   * Visits an address and follows its redirects; ends with a page, or with the outside address that it was
   * sent to.
   */
  visit(url: string): Promise<Visited>;
  submit(page: Visited, fields: Readonly<Record<string, string>>): Promise<Visited>;
  request(url: string, init?: RequestInit): Promise<Response>;
};

type Visited = {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly statuses: readonly number[];
};

const REDIRECTS_MAX = 10;

export const openBrowser = (instance: AuthByHttp): Browser => {
  const cookies = new Map<string, { value: string; path: string }>();
  const request = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname } = new URL(url);
    const sent = [...cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`);
    const response = await instance.fetch(url, {
      ...init,
      headers: { ...init.headers, cookie: sent.join('; ') },
    });
    for (const header of response.headers.getSetCookie()) keep(cookies, header);
    return response;
  };
  const go = async (url: string, init?: RequestInit): Promise<Visited> => {
    const statuses: number[] = [];
    let [next, first] = [url, init];
    for (let hops = 0; hops < REDIRECTS_MAX; hops += 1) {
      const response = await request(next, first);
      first = undefined;
      statuses.push(response.status);
      const { status, headers } = response;
      const location = headers.get('location');
      if (location === null)
        return { url: new URL(next), status, headers, body: await response.text(), statuses };
      next = new URL(location, next).href;
      if (!next.startsWith(ISSUER)) return { url: new URL(next), status, headers, body: '', statuses };
    }
    throw new Error(`more than ${REDIRECTS_MAX} redirects, the last to ${next}`);
  };
  return {
    request,
    visit: go,
    submit: ({ url, body }, fields) => {
      const form = new URLSearchParams({ ...hiddenFields(body), ...fields });
      const [, action = url.pathname] = /<form[^>]* action="([^"]+)"/.exec(body) ?? [];
      return go(new URL(action, url).href, { method: 'POST', body: form });
    },
  };
};

const keep = (cookies: Map<string, { value: string; path: string }>, header: string): void => {
  const [pair = '', ...attributes] = header.split('; ');
  const [name = '', ...value] = pair.split('=');
  const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length) ?? '/';
  if (value.join('=') === '') cookies.delete(name);
  else cookies.set(name, { value: value.join('='), path });
};

const hiddenFields = (body: string): Record<string, string> =>
  Object.fromEntries(
    [...body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );

/** Signs in and allows the request, until the browser is sent to the application or has reached the end. */
export const signInAndAllow = async (browser: Browser, url: string, person: TestPerson): Promise<Visited> =>
  continueSignIn(browser, await browser.visit(url), person);

export const continueSignIn = async (
  browser: Browser,
  start: Visited,
  { email, recoveryCode }: TestPerson,
): Promise<Visited> => {
  let page = start;
  if (page.url.pathname.startsWith('/sign-in/'))
    page = await browser.submit(page, { email, password: PASSWORD });
  if (recoveryCode !== undefined) page = await browser.submit(page, { recovery: recoveryCode });
  if (page.url.pathname.startsWith('/consent/')) page = await browser.submit(page, { decision: 'allow' });
  return page;
};
