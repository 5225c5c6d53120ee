import { base64url } from '../encoding.ts';
import { type Page, textIn } from './page.ts';
import { changeRecord } from './shared-record.ts';

/** Stores the tokens of a browser between requests. */

export type Tokens = {
  /** Constant from a sign-in to its end, however often the tokens are renewed. */
  readonly session: string;
  readonly token: string;
  readonly type: 'Bearer' | 'DPoP';
  readonly refreshToken?: string | undefined;
  readonly renewAtMs: number;
  readonly aheadMs: number;
};

export type TokenStore = {
  /** Includes the changes of other tabs. */
  read(): Promise<Tokens | undefined>;
  write(tokens: Tokens): Promise<void>;
  /** Replaces the tokens only if they belong to this session. Returns whether they did. */
  replace(session: string, tokens: Tokens | undefined): Promise<boolean>;
  /** Whether all tabs share the tokens. */
  readonly isShared: boolean;
};

export type Storage = 'browser' | 'tab' | 'memory';

const ID_BYTES = 16;
export const randomText = (bytes = ID_BYTES): string =>
  base64url(crypto.getRandomValues(new Uint8Array(bytes)));

export const openTokenStore = (page: Page, storage: Storage, name: string): TokenStore => {
  switch (storage) {
    case 'browser':
      return orInMemory(storeOfBrowser(page, `${name} tokens`));
    case 'tab':
      return orInMemory(storeOfTab(page, `${name} tokens`));
    case 'memory':
      return memoryStore();
  }
};

/**
 * Falls back to memory if the browser blocks the store. Once the store could be read, a failure is an error:
 * its tokens stay there, because another tab may use them. New tokens belong to this tab, and stay in memory
 * until they are deleted.
 */
const orInMemory = (store: TokenStore): TokenStore => {
  const memory = memoryStore();
  let isInMemory = false;
  let wasRead = false;
  const attempt = async <Value>(
    task: (store: TokenStore) => Promise<Value>,
    isNew = false,
  ): Promise<Value> => {
    if (!isInMemory)
      try {
        const result = await task(store);
        wasRead ||= !isNew;
        return result;
      } catch (error) {
        if (wasRead && !isNew) throw error;
      }
    const result = await task(memory);
    isInMemory = (await memory.read()) !== undefined;
    return result;
  };
  return {
    get isShared() {
      return store.isShared && !isInMemory;
    },
    read: () => attempt((from) => from.read()),
    write: (tokens) => attempt((to) => to.write(tokens), true),
    replace: (session, tokens) => attempt((of) => of.replace(session, tokens)),
  };
};

const storeOfBrowser = (page: Page, key: string): TokenStore => ({
  isShared: true,
  read: () => changeRecord<Tokens>(page, key, (now) => now),
  write: async (tokens) => void (await changeRecord<Tokens>(page, key, () => tokens)),
  async replace(session, tokens) {
    let isStill = false;
    await changeRecord<Tokens>(page, key, (now) => {
      isStill = now?.session === session;
      return isStill ? tokens : now;
    });
    return isStill;
  },
});

const memoryStore = (): TokenStore => {
  let kept: Tokens | undefined;
  return {
    isShared: false,
    read: async () => kept,
    async write(tokens) {
      kept = tokens;
    },
    async replace(session, tokens) {
      const isStill = kept?.session === session;
      if (isStill) kept = tokens;
      return isStill;
    },
  };
};

type Turn = { readonly turn: string; readonly atMs: number };
type Turns = Readonly<Record<string, Turn>>;

/** The lifetime of an unused refresh token. */
const TURN_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

/**
 * A store of this tab alone. A browser copies it into a duplicated tab, and two tabs with one refresh token
 * would end the session. So all tabs record which tab renewed last; a copy whose tokens another tab has
 * renewed counts as empty.
 */
const storeOfTab = (page: Page, key: string): TokenStore => {
  const changeTurns = async (change: (turns: Turns) => Turns) =>
    (await changeRecord<Turns>(page, `${key} turns`, (turns = {}) => change(turns))) ?? {};
  const kept = () => textIn(page, key) as (Tokens & Pick<Turn, 'turn'>) | null;
  const write = async (tokens: Tokens): Promise<void> => {
    const noted = { turn: randomText(), atMs: Date.now() };
    const isRecent = ([, { atMs }]: [string, Turn]) => atMs > noted.atMs - TURN_KEPT_MS;
    await changeTurns((turns) => ({
      ...Object.fromEntries(Object.entries(turns).filter(isRecent)),
      [tokens.session]: noted,
    }));
    page.sessionStorage.setItem(key, JSON.stringify({ ...tokens, turn: noted.turn }));
  };
  return {
    isShared: false,
    async read() {
      const tokens = kept();
      const turns = tokens === null ? {} : await changeTurns((now) => now);
      return tokens !== null && turns[tokens.session]?.turn === tokens.turn ? tokens : undefined;
    },
    write,
    async replace(session, tokens) {
      if (kept()?.session !== session) return false;
      if (tokens === undefined) page.sessionStorage.removeItem(key);
      else await write(tokens);
      return true;
    },
  };
};
