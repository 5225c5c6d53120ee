import { type HandBrowser, openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import type { AccountsSite } from './accounts-site.ts';
import { type OwnAccount, openOwnAccount } from './own-account.ts';

const HOPS_MAX = 20;

/** Follows redirects to every origin, as a browser does; stops before an address that `isEnd` accepts. */
export const hop = async (
  browser: HandBrowser,
  from: Seen,
  isEnd: (url: string) => boolean = () => false,
): Promise<Seen> => {
  let seen = from;
  for (let hops = 0; hops < HOPS_MAX && seen.location !== undefined && !isEnd(seen.location); hops += 1)
    seen = await browser.get(seen.location);
  return seen;
};

/** The address behind the button of a provider on the sign-in page. */
export const offerOn = (page: Seen, label: string): string =>
  new URL(
    new RegExp(`<a class="button" href="([^"]*)">Sign in with ${label}<`).exec(page.body)?.[1] ?? '/none',
    page.url,
  ).href;

/** From the account page to the provider, and to where that ends. */
export const signInBy = async (
  site: Pick<AccountsSite, 'url'>,
  label: string,
  browser: HandBrowser = openHandBrowser(),
): Promise<{ readonly browser: HandBrowser; readonly end: Seen }> => {
  const page = await openOwnAccount(site, browser).get('/account');
  return { browser, end: await hop(browser, await browser.get(offerOn(page, label))) };
};

/** Links an account at a provider; the page that leads there by itself is followed. */
export const beginLink = async (account: OwnAccount, upstream: string): Promise<Seen> => {
  const page = await account.get('/account/identities');
  const leading = await account.send(page, { do: 'link', upstream });
  const target = /^0;url=(.*)$/.exec(leading.headers.get('refresh') ?? '')?.[1] ?? '';
  return account.browser.get(target);
};
