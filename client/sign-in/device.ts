import type { Session } from '../session.ts';
import { unlessAborted, wait } from '../wait.ts';
import { ANONYMOUS, type DeviceCode, waitForDevice } from './device-code.ts';
import {
  type AccessToken,
  endsGrant,
  postForm,
  requestToken,
  type TokenOptions,
  usableMs,
} from './token-endpoint.ts';
import { memoryStore, type TokenStore } from './token-store.ts';

export type DeviceSignIn = TokenOptions & {
  readonly clientId: string;
  /** By default the default scopes of the client. */
  readonly scopes?: readonly string[];
  /** Shows the code and the address to the user. If it throws, the sign-in fails. */
  readonly show: (code: DeviceCode) => unknown;
  /** By default the tokens are lost at the end of the process. */
  readonly store?: TokenStore;
  /** Ends a sign-in that waits for the user. */
  readonly signal?: AbortSignal;
};

export type DeviceSession = Session & {
  /** Signs in now, unless already signed in. Otherwise the first request signs in. */
  signIn(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * Deletes the tokens, and ends the session on the server. Throws if the server does not answer; the tokens
   * are deleted anyway.
   */
  signOut(): Promise<void>;
};

type Headers = Readonly<Record<string, string>>;
type Kept = {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly renewAtMs: number;
};
type Current = { readonly kept: Kept; readonly headers: Headers };

/**
 * Signs in the user of a command-line program (RFC 8628). All requests share one access token and one
 * refresh. If the session has ended, the next request shows a new code.
 */
export const deviceSignIn = ({
  clientId,
  scopes,
  show,
  store = memoryStore(),
  signal,
  ...options
}: DeviceSignIn): DeviceSession => {
  const owner = { url: String(options.url).replace(/\/+$/, ''), clientId };
  let current: Current | undefined;
  let refusedToken: string | undefined;
  let obtaining: Shared<Current> | undefined;

  const isGood = (kept: Kept): boolean => kept.accessToken !== refusedToken && Date.now() < kept.renewAtMs;
  const keep = (kept: Kept): Current => ({ kept, headers: { Authorization: `Bearer ${kept.accessToken}` } });

  const refresh = async ({ refreshToken = '' }: Kept): Promise<Kept | undefined> => {
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
    const beganMs = Date.now();
    try {
      return keptOf(await requestToken({ ...options, session: ANONYMOUS, form }), beganMs, refreshToken);
    } catch (error) {
      if (endsGrant(error)) return undefined;
      throw error;
    }
  };

  /** Stored tokens, possibly of another process, refreshed if needed. */
  const restore = async (): Promise<Kept | undefined> => {
    let kept: Kept | undefined;
    await store.update(async (text) => {
      kept = keptIn(text, owner);
      if (kept !== undefined && !isGood(kept))
        kept = kept.refreshToken === undefined ? undefined : await refresh(kept);
      return kept && textOf(kept, owner);
    });
    return kept;
  };

  const signInAnew = async (leaving: AbortSignal): Promise<Kept> => {
    const ended = signal ? AbortSignal.any([signal, leaving]) : leaving;
    const { token, beganMs } = await waitForDevice({
      ...options,
      ...{ clientId, scopes, show, signal: ended, pause: wait },
    });
    const kept = keptOf(token, beganMs);
    await store.update(async () => textOf(kept, owner));
    return kept;
  };

  const obtain = (asked: AbortSignal | undefined): Promise<Current> => {
    asked?.throwIfAborted();
    if (obtaining === undefined || obtaining.isLeft()) {
      const mine: Shared<Current> = share(async (leaving) => {
        try {
          current = keep((await restore()) ?? (await signInAnew(leaving)));
          return current;
        } finally {
          if (obtaining === mine) obtaining = undefined;
        }
      });
      obtaining = mine;
    }
    return obtaining.join(asked);
  };

  return {
    async authorize(request) {
      const { headers } = current && isGood(current.kept) ? current : await obtain(request.signal);
      return headers;
    },
    async refused(_response, headers) {
      if (current?.headers === headers) {
        refusedToken = current.kept.accessToken;
        current = undefined;
      }
      return true;
    },
    async signIn(asked) {
      if (current === undefined || !isGood(current.kept)) await obtain(asked?.signal);
    },
    async signOut() {
      let token: string | undefined;
      // Deleted first, whatever the server answers.
      await store.update(async (text) => {
        token = keptIn(text, owner)?.refreshToken;
        return undefined;
      });
      current = undefined;
      const form = { client_id: clientId, token: token ?? '', token_type_hint: 'refresh_token' };
      if (token !== undefined) await postForm('/revoke', form, { ...options, session: ANONYMOUS });
    },
  };
};

/** A server that does not rotate sends no refresh token: the former one stays valid. */
const keptOf = (given: AccessToken, beganMs: number, former?: string): Kept => ({
  accessToken: given.token,
  refreshToken: given.refreshToken ?? former,
  renewAtMs: beganMs + usableMs(given),
});

type Owner = { readonly url: string; readonly clientId: string };

const textOf = (kept: Kept, owner: Owner): string => JSON.stringify({ ...owner, ...kept });

/** Tokens of another server or client are never sent to this one. */
const keptIn = (text: string | undefined, { url, clientId }: Owner): Kept | undefined => {
  try {
    const kept = JSON.parse(text ?? '') as Kept & Owner;
    const isOurs = kept.url === url && kept.clientId === clientId && typeof kept.accessToken === 'string';
    // JSON has no infinity: such a token never expires.
    return isOurs ? { ...kept, renewAtMs: kept.renewAtMs ?? Number.POSITIVE_INFINITY } : undefined;
  } catch {
    return undefined;
  }
};

type Shared<Value> = { join(signal: AbortSignal | undefined): Promise<Value>; isLeft(): boolean };

/** One task for all callers that wait for it. Its signal aborts when the last of them has left. */
const share = <Value>(task: (leaving: AbortSignal) => Promise<Value>): Shared<Value> => {
  const leaving = new AbortController();
  const result = Promise.resolve().then(() => task(leaving.signal));
  result.catch(() => {});
  let waiting = 0;
  return {
    isLeft: () => leaving.signal.aborted,
    async join(signal) {
      waiting++;
      const leave = () => {
        waiting--;
        if (waiting === 0) leaving.abort(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      try {
        return await unlessAborted(result, signal);
      } finally {
        signal?.removeEventListener('abort', leave);
      }
    },
  };
};
