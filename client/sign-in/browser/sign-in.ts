import { createClient } from '../../client.ts';
import { Problem } from '../../problem.ts';
import type { Client } from '../../types/client.ts';
import {
  type BrowserSession,
  type BrowserSessionOptions,
  browserSession,
  type SignInOptions,
} from './browser-session.ts';
import type { Page } from './page.ts';

export type SignIn = BrowserSessionOptions &
  SignInOptions & {
    /**
     * False returns a client for public data if nobody is signed in, and asks nobody. `session.signIn()` asks
     * later.
     */
    readonly required?: boolean;
  };

export type SignedIn<Domain> = { readonly client: Client<Domain>; readonly session: BrowserSession };

/** A page listens to other tabs until it is left, so it has one session of each client. */
const opened = new WeakMap<Page, Map<string, SignedIn<unknown>>>();

/**
 * Signs the user of this page in, and returns a client with their rights:
 *
 *     const { client } = await signIn<typeof expenses>({ url });
 *
 * Call it when the page opens. It completes a sign-in that has opened the page, takes the stored tokens, or goes
 * to the sign-in page, which returns here; then its promise stays pending, because the browser leaves the page.
 * Its tokens are bound to a key that cannot leave the browser, unless `dpop` is false.
 */
export const signIn = async <Domain = unknown>(
  { required = true, popup, returnTo, parameters, dpop = true, ...options }: SignIn,
  page: Page = globalThis as unknown as Page,
): Promise<SignedIn<Domain>> => {
  const { client, session } = openIn(page, { ...options, dpop });
  await session.start();
  if (!session.isSignedIn && required) {
    const leaving = popup ? undefined : untilBack(page);
    leaving?.catch(() => {});
    await session.signIn({
      ...(popup && { popup }),
      ...(returnTo !== undefined && { returnTo }),
      ...(parameters && { parameters }),
    });
    await leaving;
  }
  return { client: client as Client<Domain>, session };
};

const openIn = (page: Page, options: BrowserSessionOptions): SignedIn<unknown> => {
  const ofPage = opened.get(page) ?? new Map<string, SignedIn<unknown>>();
  opened.set(page, ofPage);
  const name = `${options.url} ${options.clientId}`;
  const known = ofPage.get(name);
  if (known !== undefined) return known;
  const { url, fetch, timeoutMs, retryForMs, attemptsMax } = options;
  const session = browserSession(options, page);
  const client = createClient({
    url,
    token: session,
    ...(fetch && { fetch }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retryForMs !== undefined && { retryForMs }),
    ...(attemptsMax !== undefined && { attemptsMax }),
  });
  const made = { client, session };
  ofPage.set(name, made);
  return made;
};

/** A browser may bring the page back as it was left, when the user returns without an answer. */
const untilBack = (page: Page): Promise<never> =>
  new Promise((_, reject) => {
    page.addEventListener('pageshow', ({ persisted }) => {
      if (persisted) reject(returned());
    });
  });

const returned = (): Problem =>
  new Problem({
    code: 'access_denied',
    status: 0,
    message: 'you came back without signing in: sign in again',
  });
