import { Problem } from '../../problem.ts';
import { randomText } from './kept-tokens.ts';
import type { OpenWindow, Page } from './page.ts';

/**
 * Signing in within a window of its own. The sign-in page cuts the window off from the page that opened it
 * (COOP), so the page at its redirect URI passes the answer on by a channel of this origin. The code alone is
 * worth nothing: only the page that asked has the verifier.
 */

const STATE = 'popup.';
const STATE_BYTES = 32;
/** By it, the page in the window knows that it is in one. */
export const popupState = (): string => STATE + randomText(STATE_BYTES);

/** Interactions of the server end after this time. */
const ANSWER_MAX_MS = 600_000;
const TAKEN_MAX_MS = 2_000;

type Message = { readonly state: string; readonly query?: string };

/** To be called before anything is awaited: browsers open windows only while a click is handled. */
export const openPopup = (page: Page): OpenWindow => {
  const opened = page.open('about:blank', '_blank', 'popup,width=480,height=720');
  if (opened === null)
    throw problemOf(
      'popup_blocked',
      'the browser blocked the window for signing in: call signIn when the user clicks, or let this page open windows',
    );
  // No page in it can reach this one.
  opened.opener = null;
  return opened;
};

const problemOf = (code: string, message: string): Problem => new Problem({ code, status: 0, message });

/** Waits for the answer to the request with this state. */
export const answerOfPopup = (name: string, state: string, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const channel = new BroadcastChannel(`${name} popup`);
    const end = () => {
      clearTimeout(timer);
      channel.close();
      signal.removeEventListener('abort', abort);
    };
    const refuse = (problem: Problem) => {
      end();
      reject(problem);
    };
    const abort = () => refuse(problemOf('popup_replaced', 'another sign-in was started: finish that one'));
    const timer = setTimeout(
      () => refuse(problemOf('popup_expired', 'nobody signed in within ten minutes: sign in again')),
      ANSWER_MAX_MS,
    );
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    channel.onmessage = ({ data }: { readonly data: Message }) => {
      if (data.state !== state || data.query === undefined) return;
      channel.postMessage({ state } satisfies Message);
      end();
      resolve(data.query);
    };
  });

/** If a sign-in in a window has opened this page, passes its answer on. Returns whether a page has taken it. */
export const passOn = async (page: Page, name: string): Promise<boolean> => {
  const { search } = new URL(page.location.href);
  const state = new URLSearchParams(search).get('state');
  if (!state?.startsWith(STATE)) return false;
  const channel = new BroadcastChannel(`${name} popup`);
  const isTaken = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), TAKEN_MAX_MS);
    channel.onmessage = ({ data }: { readonly data: Message }) => {
      if (data.state !== state || data.query !== undefined) return;
      clearTimeout(timer);
      resolve(true);
    };
    channel.postMessage({ state, query: search } satisfies Message);
  });
  channel.close();
  return isTaken;
};
