import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOME, openPage } from '../../../test/engines/fake-page.ts';
import { startLocalServer } from '../../../test/engines/local-server.ts';
import { createClient } from '../../client.ts';
import { NoAnswer } from '../../problem.ts';
import { browserSession } from './browser-session.ts';
import { openTokenStore } from './kept-tokens.ts';
import { shareTokens } from './shared-tokens.ts';

/**
 * Uses the locks and channels of Node, in a page whose storage each test can block. Chromium tests the rest
 * (`test/pages`).
 */
let open: AsyncDisposableStack;
let url: string;
let answers: { readonly status: number; readonly error: string }[];
let tokens: number;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  [answers, tokens] = [[], 0];
  const { BroadcastChannel } = globalThis;
  globalThis.BroadcastChannel = class extends BroadcastChannel {
    constructor(name: string) {
      super(name);
      open.defer(() => this.close());
    }
  };
  open.defer(() => {
    globalThis.BroadcastChannel = BroadcastChannel;
  });
  const server = await startLocalServer((request, response) => {
    const { status, error } = answers.shift() ?? { status: 200 };
    const token = {
      access_token: `t${++tokens}`,
      token_type: 'Bearer',
      expires_in: 0,
      refresh_token: `r${tokens}`,
    };
    const body = request.url !== '/token' ? { id: 7 } : error === undefined ? token : { error };
    response
      .writeHead(request.url === '/token' ? status : 200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(body));
  });
  open.use(server);
  url = server.url;
});
afterEach(() => open.disposeAsync());

const signIn = async (storage: 'browser' | 'tab' | 'memory' = 'memory') => {
  const { page, went, visit } = openPage();
  const options = { url, clientId: 'page', storage };
  await browserSession(options, page).signIn();
  const state = new URL(went[0] ?? '').searchParams.get('state');
  visit(`${HOME}?${new URLSearchParams({ code: 'one', state: state ?? '', iss: url })}`);
  const session = browserSession(options, page);
  expect([await session.start(), page.location.href]).toEqual([true, HOME]);
  const client = createClient({ url, token: session }) as unknown as {
    articles: { get(id: number): Promise<unknown> };
  };
  return { session, read: () => client.articles.get(7) };
};

test.each([
  'javascript:alert(1)',
  'https://evil.example/',
  '//evil.example',
  'blob:https://page.example/1',
  'https://[',
])('signing in does not lead back to %s', async (returnTo) => {
  const { page, went } = openPage();
  await expect(browserSession({ url, clientId: 'page' }, page).signIn({ returnTo })).rejects.toThrow(
    TypeError,
  );
  expect(went).toEqual([]);
});

test.each([
  [401, 'invalid_request'],
  [400, 'use_dpop_nonce'],
  [401, 'invalid_client'],
  [401, 'of_a_gateway'],
])('a renewal that is refused by %i %s leaves the session', async (status, error) => {
  const { session, read } = await signIn();
  answers = [{ status, error }];
  await expect(read()).rejects.toMatchObject({ name: 'Problem', code: error });
  expect([session.isSignedIn, await read()]).toEqual([true, { id: 7 }]);
  answers = [{ status: 400, error: 'invalid_grant' }];
  await expect(read()).rejects.toMatchObject({ code: 'invalid_grant' });
  expect([session.isSignedIn, await read()]).toEqual([false, { id: 7 }]);
});

test.each(['browser', 'tab'] as const)('tokens are in memory if %s cannot keep them', async (storage) => {
  const { session, read } = await signIn(storage);
  expect([await read(), await read(), session.isSignedIn]).toEqual([{ id: 7 }, { id: 7 }, true]);
  await session.signOut();
  expect(session.isSignedIn).toBe(false);
});

test('a page without storage can read public data, and signing in names the problem', async () => {
  const { page, shown } = openPage({ isTabBlocked: true });
  for (const storage of ['browser', 'tab'] as const) {
    const session = browserSession({ url, clientId: 'page', storage }, page);
    const client = createClient({ url, token: session }) as unknown as {
      articles: { get(id: number): Promise<unknown> };
    };
    expect(await client.articles.get(7)).toEqual({ id: 7 });
    expect(await session.start()).toBe(false);
    for (const show of shown) show({ persisted: false });
    await expect(session.signIn()).rejects.toMatchObject({ name: 'Problem', code: 'storage_blocked' });
  }
});

test('a key that cannot be stored is a problem each time, and requests without sign-in do not need it', async () => {
  const session = browserSession({ url, clientId: 'page', dpop: true }, openPage().page);
  expect([await session.start(), await session.authorize({ method: 'GET', url })]).toEqual([false, {}]);
  for (let times = 0; times < 2; times++)
    await expect(session.signIn()).rejects.toMatchObject({ code: 'storage_blocked' });
});

test('an error of one start does not repeat in the next', async () => {
  const { page, visit } = openPage();
  visit(`${HOME}?code=one&state=two`);
  const session = browserSession({ url, clientId: 'page' }, page);
  await expect(session.start()).rejects.toMatchObject({ code: 'state_mismatch' });
  expect(await session.start()).toBe(false);
});

test('a tab does not wait for ever for a lock that another tab holds', async () => {
  const { page } = openPage();
  const name = `locked ${url}`;
  const token = { token: 't', type: 'Bearer', lifetimeMs: 0, refreshToken: 'r', aheadMs: 0 } as const;
  const store = openTokenStore(page, 'memory', name);
  const shared = shareTokens({
    page,
    name,
    store,
    request: async () => token,
    revoke: async () => {},
    lockTimeoutMs: 50,
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const holding = globalThis.navigator.locks.request(name, () => promise);
  const failed = await shared.begin({}).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(NoAnswer);
  expect(failed).toMatchObject({ reason: 'timeout' });
  resolve();
  await holding;
  await shared.begin({});
  expect(shared.current()).toMatchObject({ token: 't' });
});
