import { NoAnswer, Problem } from '../../problem.ts';
import { type AccessToken, endsGrant, usableMs } from '../token-endpoint.ts';
import { randomText, type TokenStore, type Tokens } from './kept-tokens.ts';
import type { Page } from './page.ts';

/**
 * The tokens of a browser. A refresh token works once, so only one tab at a time may use it, and the others
 * take its result.
 */

export type SharedTokens = {
  /** The last ones that this tab knows. */
  current(): Tokens | undefined;
  /** Resolves once this tab has read the store. */
  readonly loaded: Promise<void>;
  /** Begins a session with the tokens of a grant. */
  begin(form: Form): Promise<void>;
  /**
   * Replaces expired or refused tokens: requests new ones, or takes those that another tab has got meanwhile.
   */
  renew(used: Tokens): Promise<Tokens>;
  /** Returns the former tokens. */
  end(): Promise<Tokens | undefined>;
  onChange(listener: (isSignedIn: boolean) => void): () => void;
};

type Form = Readonly<Record<string, string>>;
type Dependencies = {
  readonly page: Page;
  /** Identifies the session to other tabs. */
  readonly name: string;
  readonly store: TokenStore;
  readonly request: (form: Form) => Promise<AccessToken>;
  readonly revoke: (tokens: Tokens) => Promise<void>;
  /** How long a tab waits for those before it in the queue. */
  readonly lockTimeoutMs: number;
};

export const shareTokens = ({
  page,
  name,
  store,
  request,
  revoke,
  lockTimeoutMs,
}: Dependencies): SharedTokens => {
  const { loaded, current, adopt, send, onChange } = watchTokens({ page, name, store, revoke });
  const alone = async <Value>(task: () => Promise<Value>): Promise<Value> => {
    const signal = AbortSignal.timeout(lockTimeoutMs);
    let isHeld = false;
    const holding = () => {
      isHeld = true;
      return task();
    };
    try {
      return await locksOf(page).request(name, { signal }, holding);
    } catch (cause) {
      throw signal.aborted && !isHeld ? new NoAnswer('timeout', { cause }) : cause;
    }
  };
  let renewing: Promise<Tokens> | undefined;

  const replace = async (session: string, tokens: Tokens | undefined): Promise<boolean> => {
    const isStill = await store.replace(session, tokens);
    adopt(isStill ? tokens : await store.read());
    if (isStill) send('changed');
    return isStill;
  };

  const renewAlone = async (used: Tokens): Promise<Tokens> => {
    const now = await store.read();
    adopt(now);
    if (now === undefined) throw signedOut();
    if (now.token !== used.token) return now;
    if (now.refreshToken === undefined) {
      await replace(now.session, undefined);
      throw signedOut();
    }
    try {
      const form = { grant_type: 'refresh_token', refresh_token: now.refreshToken };
      const renewed = await obtain(request, form, now);
      if (await replace(now.session, renewed)) return renewed;
      // A user has signed out while the server answered, and could not revoke these new tokens.
      await revoke(renewed).catch(() => {});
      throw signedOut();
    } catch (error) {
      if (endsGrant(error)) await replace(now.session, undefined);
      throw error;
    }
  };

  return {
    loaded,
    current,
    async begin(form) {
      await alone(async () => {
        const tokens = await obtain(request, form);
        await store.write(tokens);
        adopt(tokens);
      });
      send('changed');
    },
    renew(used) {
      renewing ??= alone(() => renewAlone(used)).finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    async end() {
      const ended = (await store.read()) ?? current();
      if (ended !== undefined) await store.replace(ended.session, undefined);
      adopt(await store.read());
      send('signed-out');
      return ended;
    },
    onChange,
  };
};

const obtain = async (request: Dependencies['request'], form: Form, before?: Tokens): Promise<Tokens> => {
  const beganMs = Date.now();
  const answer = await request(form);
  const { token, type, aheadMs, refreshToken = before?.refreshToken } = answer;
  return {
    session: before?.session ?? randomText(),
    token,
    type,
    refreshToken,
    aheadMs,
    renewAtMs: beganMs + usableMs(answer),
  };
};

const signedOut = (): Problem =>
  new Problem({ code: 'signed_out', status: 401, message: 'the session has ended: sign in again' });

/** Throws on pages without locks, which also lack `crypto.subtle`. */
export const locksOf = ({ navigator: { locks } }: Page) => {
  if (locks === undefined)
    throw new TypeError('signing in needs a page with HTTPS, or a page on http://localhost');
  return locks;
};

/** An error in a listener must not affect the session or the next listener. */
const notify = (listener: (isSignedIn: boolean) => void, isSignedIn: boolean): void => {
  try {
    listener(isSignedIn);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
};

type Message = 'changed' | 'signed-out';

/** A tab's view of the tokens. Tabs notify each other of changes, and one that slept reads the store. */
const watchTokens = ({
  page,
  name,
  store,
  revoke,
}: Pick<Dependencies, 'page' | 'name' | 'store' | 'revoke'>) => {
  const listeners = new Set<(isSignedIn: boolean) => void>();
  const channel = new BroadcastChannel(name);
  let known: Tokens | undefined;
  let isLoaded = false;
  const adopt = (tokens: Tokens | undefined): void => {
    const isOther = isLoaded && tokens?.session !== known?.session;
    known = tokens;
    if (isOther) for (const listener of listeners) notify(listener, tokens !== undefined);
  };
  const look = async () => adopt(await store.read());
  const receive = async (message: unknown): Promise<void> => {
    const ended = message === ('signed-out' satisfies Message) && !store.isShared ? known : undefined;
    const isEnded = ended !== undefined && (await store.replace(ended.session, undefined));
    await look();
    if (isEnded) await revoke(ended);
  };
  // If this read fails, the next request reads again, or reports the error. Tokens that cannot be revoked
  // expire.
  channel.onmessage = ({ data }: { readonly data: unknown }) => void receive(data).catch(() => {});
  page.addEventListener('pageshow', () => void look().catch(() => {}));
  const load = async () => {
    await look();
    isLoaded = true;
  };
  return {
    loaded: load(),
    current: () => known,
    adopt,
    send: (message: Message) => channel.postMessage(message),
    onChange(listener: (isSignedIn: boolean) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
