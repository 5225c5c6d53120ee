// Over 200 lines, because it is one session: how it begins, goes on and ends in a page.
import { Problem } from '../../problem.ts';
import type { Session } from '../../session.ts';
import { LIMITS } from '../../transport.ts';
import { shareCall, unlessAborted } from '../../wait.ts';
import { createProver, type Prover } from '../dpop.ts';
import { postForm, requestToken, type TokenOptions } from '../token-endpoint.ts';
import { openAsking } from './asking.ts';
import { type CodeAnswer, type CodeRequest, ownAddress, STATE_MISMATCH, takeAnswer } from './code-request.ts';
import { openTokenStore, type Storage, type Tokens } from './kept-tokens.ts';
import { keyPairOf } from './key-store.ts';
import { localClientId, notRegistered } from './local-page.ts';
import type { Page } from './page.ts';
import { passOn } from './popup.ts';
import { locksOf, type SharedTokens, shareTokens } from './shared-tokens.ts';

export type BrowserSessionOptions = TokenOptions & {
  /**
   * The client that your page is registered as. In development, a page on `localhost` needs none: Annals knows it
   * by its origin.
   */
  readonly clientId?: string | undefined;
  /** Your page that calls `start`, as the client registered it. By default this page. */
  readonly redirectUri?: string;
  /** By default the default scopes of the client. */
  readonly scopes?: readonly string[];
  /** The issuer of tokens, if it is not at `url`. */
  readonly issuer?: string;
  /**
   * Where tokens are stored: for all tabs and the next visit, for one tab and its reloads, or until the page
   * is left. By default `browser`.
   */
  readonly storage?: Storage;
  /** Binds the tokens to a key that cannot leave this browser (RFC 9449). */
  readonly dpop?: boolean;
  /** Shows the page where the user was before signing in. By default by `history.replaceState`. */
  readonly goBack?: (url: string) => void;
};

export type SignInOptions = {
  readonly returnTo?: string;
  readonly popup?: boolean;
  readonly parameters?: Readonly<Record<string, string>>;
};

export type BrowserSession = Session & {
  /**
   * Completes a sign-in, if the page was opened by one. Returns whether a user is signed in. Call it when the
   * page opens.
   */
  start(): Promise<boolean>;
  /** Known once `start` has resolved. */
  readonly isSignedIn: boolean;
  /**
   * Goes to the sign-in page, which returns to `returnTo`, an address of this origin: by default the current
   * one. With `popup`, that page opens in a window of its own, and the promise resolves once the user is signed
   * in; call it when the user clicks.
   */
  signIn(options?: SignInOptions): Promise<void>;
  /**
   * Ends the session here and on the server. With `endSession`, also goes to the page that signs out of
   * Annals itself, which returns to this address, if there is one.
   */
  signOut(options?: { readonly endSession?: boolean | string }): Promise<void>;
  /** Calls back after a user has signed in or out, in any tab. Returns a function that stops it. */
  onChange(listener: (isSignedIn: boolean) => void): () => void;
};

/**
 * Signs users in to a page by the authorization code flow with PKCE (OAuth 2.1), and renews the access token
 * for as long as the server allows. While nobody is signed in, requests are sent without a token.
 */
export const browserSession = (
  {
    clientId: registered,
    scopes,
    redirectUri,
    issuer,
    storage = 'browser',
    dpop = false,
    goBack,
    ...options
  }: BrowserSessionOptions,
  page: Page = globalThis as unknown as Page,
): BrowserSession => {
  const server = String(issuer ?? options.url).replace(/\/+$/, '');
  const here = new URL(page.location.href);
  const returningTo = redirectUri ?? `${here.origin}${here.pathname}`;
  const clientId = registered ?? localClientId(here);
  if (clientId === undefined) throw notRegistered(returningTo);
  const asked = { issuer: server, clientId, scopes, redirectUri: returningTo };
  const name = `annals ${server} ${clientId}`;
  const pendingKey = `${name} asking`;
  const prover = dpop ? createProver(keyPairOf(page, name)) : undefined;
  const endpoint = { ...options, url: server, session: NOBODY };
  const revoke = async ({ refreshToken, token }: Tokens, limits = {}) =>
    void (await postForm(
      '/revoke',
      { client_id: clientId, token: refreshToken ?? token },
      { ...endpoint, ...limits },
    ));
  const tokens = shareTokens({
    page,
    name,
    store: openTokenStore(page, storage, name),
    request: (form) => requestToken({ ...endpoint, prover, form: { client_id: clientId, ...form } }),
    revoke,
    // The time after which a tab gives up a lock that it holds.
    lockTimeoutMs: (options.retryForMs ?? LIMITS.retryForMs) + (options.timeoutMs ?? LIMITS.timeoutMs),
  });

  const exchange = (answer: CodeAnswer) =>
    tokens.begin({ grant_type: 'authorization_code', redirect_uri: asked.redirectUri, ...answer });
  const begin = async (): Promise<boolean> => {
    if (await passOn(page, name)) return leave(page);
    const returned = takeReturn(page, pendingKey, asked, goBack);
    await tokens.loaded;
    if (returned === undefined) return tokens.current() !== undefined;
    const { returnTo, answer } = returned;
    if (!(answer instanceof Problem)) {
      await exchange(answer);
      goBack?.(returnTo);
    } else if (answer.code !== STATE_MISMATCH || tokens.current() === undefined) throw answer;
    return true;
  };
  const beginOnce = shareCall(begin);
  let started: Promise<boolean> | undefined;
  const asking = openAsking({
    ...{ page, name, asked, endpoint, prover, exchange },
    isRegistered: registered !== undefined,
  });

  return {
    start() {
      started = beginOnce();
      return started;
    },
    get isSignedIn() {
      return tokens.current() !== undefined;
    },
    async signIn({ returnTo = page.location.href, popup = false, parameters } = {}) {
      locksOf(page);
      if (popup) return asking.byPopup(parameters);
      const there = ownAddress(returnTo, page.location.href);
      if (there === undefined) throw new TypeError(`returnTo has another origin than this page: ${returnTo}`);
      await asking.byRedirect(pendingKey, there, parameters);
    },
    signOut: signingOut(page, { clientId, server }, { end: tokens.end, revoke }),
    onChange: tokens.onChange,
    ...authorizing(tokens, prover, () => started),
  };
};

type Leaving = {
  readonly end: SharedTokens['end'];
  revoke(tokens: Tokens, limits?: object): Promise<void>;
};

const signingOut =
  (
    page: Page,
    { clientId, server }: { readonly clientId: string; readonly server: string },
    { end, revoke }: Leaving,
  ): BrowserSession['signOut'] =>
  async ({ endSession = false } = {}) => {
    const ended = await end();
    try {
      // The sign-out page ends what this request could not.
      if (ended !== undefined) await revoke(ended, endSession === false ? {} : { attemptsMax: 1 });
    } finally {
      if (endSession !== false) {
        const query = new URLSearchParams({
          client_id: clientId,
          ...(endSession !== true && { post_logout_redirect_uri: endSession }),
        });
        page.location.assign(`${server}/sign-out?${query}`);
      }
    }
  };

/** The page that opened this window goes on: nothing happens here any more. */
const leave = (page: Page): Promise<never> => {
  const { origin, pathname } = new URL(page.location.href);
  page.history.replaceState(null, '', `${origin}${pathname}`);
  page.close();
  return new Promise(() => {});
};

/** Takes the answer out of the address, so that a reload does not send it again. */
const takeReturn = (
  page: Page,
  asking: string,
  asked: CodeRequest,
  goBack: BrowserSessionOptions['goBack'],
) => {
  const returned = takeAnswer(page, asking, asked);
  if (returned)
    page.history.replaceState(page.history.state, '', goBack ? returned.cleaned : returned.returnTo);
  return returned;
};

const NOBODY: Session = { authorize: async () => ({}) };

const authorizing = (
  tokens: SharedTokens,
  prover: Prover | undefined,
  started: () => Promise<boolean> | undefined,
): Session => ({
  async authorize({ method, url, signal }) {
    // A user who returns from the sign-in page is not signed in before the sign-in is complete. `start`
    // reports its errors.
    await unlessAborted(started()?.catch(() => {}) ?? tokens.loaded, signal);
    const kept = tokens.current();
    if (kept === undefined) return {};
    const used = Date.now() < kept.renewAtMs ? kept : await unlessAborted(tokens.renew(kept), signal);
    const { type, token, aheadMs } = used;
    return {
      Authorization: `${type} ${token}`,
      ...(prover && { DPoP: await prover.prove({ method, url, token, aheadMs }) }),
    };
  },
  async refused(response, { Authorization: sent, DPoP: proof = '' }) {
    if (sent === undefined) return false;
    if (await prover?.asksForNonce(proof, response)) return true;
    const kept = tokens.current();
    if (kept === undefined) return false;
    if (sent === `${kept.type} ${kept.token}`) await tokens.renew(kept);
    return true;
  },
});
