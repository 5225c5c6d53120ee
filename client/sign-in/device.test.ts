// Over 200 lines, because it is one list: what a session of the device flow sends, to a server whose answers
// each test sets.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { publishing } from '#domain/publishing.ts';
import { startLocalServer } from '../../test/engines/local-server.ts';
import { until } from '../../testing/until.ts';
import { createClient } from '../client.ts';
import { type DeviceSignIn, deviceSignIn } from './device.ts';
import { type DeviceCode, waitForDevice } from './device-code.ts';
import { memoryStore } from './token-store.ts';

/**
 * Runs against a server whose answers to polls each test sets, and which rotates refresh tokens like Annals.
 */
let open: AsyncDisposableStack;
let url: string;
let forms: Readonly<Record<string, string>>[];
/** Answers to polls: errors by code, 'cut' for a broken connection; then tokens. */
let polls: string[];
let lifetimeSeconds: number;
let codeLifetimeSeconds: number;
let refreshToken: string | undefined;
let tokens: number;
let refused: Set<string>;
let revocationStatus: number;
let shown: DeviceCode[];
/** Answers of the token endpoint wait for it. */
let gate: Promise<void>;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  [forms, polls, shown, refused, tokens, refreshToken] = [[], [], [], new Set(), 0, undefined];
  [lifetimeSeconds, codeLifetimeSeconds, revocationStatus, gate] = [300, 600, 200, Promise.resolve()];
  const server = await startLocalServer(async (request, response) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    const { authorization = '' } = request.headers;
    let text = '';
    for await (const chunk of request) text += chunk;
    const form = Object.fromEntries(new URLSearchParams(text));
    const give = () => {
      tokens++;
      refreshToken = `r${tokens}`;
      send(200, {
        access_token: `t${tokens}`,
        token_type: 'Bearer',
        expires_in: lifetimeSeconds,
        refresh_token: refreshToken,
      });
    };
    if (request.url === '/articles/7') return send(refused.has(authorization) ? 401 : 200, { id: 7 });
    forms.push(form);
    if (request.url === '/revoke') {
      if (revocationStatus === 302) return response.writeHead(302, { Location: '/elsewhere' }).end();
      if (form.token === refreshToken) refreshToken = undefined;
      return send(revocationStatus, {});
    }
    if (request.url === '/device_authorization')
      return send(200, {
        device_code: 'd',
        user_code: 'BCDF-GHJK',
        verification_uri: `${url}/device`,
        verification_uri_complete: `${url}/device?user_code=BCDF-GHJK`,
        expires_in: codeLifetimeSeconds,
        interval: 0,
      });
    await gate;
    if (form.grant_type === 'refresh_token') {
      if (form.refresh_token === refreshToken) return give();
      refreshToken = undefined;
      return send(400, { error: 'invalid_grant' });
    }
    const error = polls.shift();
    if (error === 'cut') return response.destroy();
    if (error === undefined) return give();
    return send(error === 'temporarily_unavailable' ? 503 : 400, {
      error,
      error_description: `because of ${error}`,
    });
  });
  open.use(server);
  url = server.url;
});
afterEach(() => open.disposeAsync());

const sessionOf = (options: Partial<DeviceSignIn> = {}) =>
  deviceSignIn({ url: `${url}/`, clientId: 'cli', show: (code) => void shown.push(code), ...options });
const clientOf = (token = sessionOf()) => createClient<typeof publishing>({ url, token });
const allOf = (count: number, call: () => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, call));
const grants = () =>
  forms.flatMap(({ grant_type: grant }) => (grant === undefined ? [] : [grant.replace(/.*:/, '')]));

test('a code is shown once for all requests, and polled until the user has entered it', async () => {
  polls = ['authorization_pending', 'authorization_pending'];
  const client = clientOf(sessionOf({ scopes: ['read:articles', 'write:articles'] }));
  await allOf(10, () => client.articles.get(7));
  expect(shown).toEqual([
    {
      userCode: 'BCDF-GHJK',
      verificationUri: `${url}/device`,
      verificationUriComplete: `${url}/device?user_code=BCDF-GHJK`,
      expiresAt: expect.any(Date),
    },
  ]);
  expect(forms[0]).toEqual({ client_id: 'cli', scope: 'read:articles write:articles' });
  expect(grants()).toEqual(Array(3).fill('device_code'));
});

test.each([
  ['after slow_down, it polls five seconds later', ['slow_down', 'authorization_pending'], [0, 5_000, 5_000]],
  [
    'a poll without an answer is retried later and later',
    ['cut', 'temporarily_unavailable'],
    [0, 2_000, 4_000],
  ],
])('%s', async (_, answers, expected) => {
  polls = answers;
  const pauses: number[] = [];
  const { token } = await waitForDevice({
    url,
    clientId: 'cli',
    show() {},
    signal: new AbortController().signal,
    pause: async (ms) => void pauses.push(ms),
  });
  expect([token.token, pauses]).toEqual(['t1', expected]);
});

test.each(['access_denied', 'expired_token', 'invalid_grant'])(
  '%s is a problem by its code',
  async (code) => {
    polls = ['authorization_pending', code];
    const session = sessionOf();
    await expect(session.signIn()).rejects.toMatchObject({
      name: 'Problem',
      code,
      message: `because of ${code}`,
    });
    await session.signIn();
    expect(shown).toHaveLength(2);
  },
);

test('an expired code is not polled', async () => {
  [polls, codeLifetimeSeconds] = [['authorization_pending'], 0];
  await expect(sessionOf().signIn()).rejects.toMatchObject({ code: 'expired_token' });
  expect(grants()).toHaveLength(1);
});

test('a code that cannot be shown ends the sign-in', async () => {
  const show = () => {
    throw new Error('no terminal');
  };
  await expect(clientOf(sessionOf({ show })).articles.get(7)).rejects.toThrow('no terminal');
  expect(grants()).toEqual([]);
});

test('when the last waiting request is aborted, polling ends', async () => {
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  polls = Array(1_000).fill('authorization_pending');
  const client = clientOf();
  const [one, other] = [new AbortController(), new AbortController()];
  const left = [one, other].map(({ signal }) =>
    client.articles.get(7, {}, { signal }).catch((error: unknown) => error),
  );
  await until(grants, ({ length }) => length === 1);
  one.abort(new Error('left'));
  expect(await left[0]).toMatchObject({ message: 'left' });
  opened.resolve();
  await until(grants, ({ length }) => length > 2);
  other.abort(new Error('left too'));
  expect(await left[1]).toMatchObject({ message: 'left too' });
  polls = [];
  await client.articles.get(7);
  expect(shown).toHaveLength(2);
});

test('the signal of the session ends a pending sign-in', async () => {
  polls = Array(1_000).fill('authorization_pending');
  const quitting = new AbortController();
  const session = sessionOf({ signal: quitting.signal, show: () => quitting.abort(new Error('quit')) });
  await expect(session.signIn()).rejects.toThrow('quit');
});

test('an expired token is refreshed, once and each time with the last refresh token', async () => {
  lifetimeSeconds = 0;
  const client = clientOf();
  await client.articles.get(7);
  await client.articles.get(7);
  lifetimeSeconds = 300;
  await allOf(10, () => client.articles.get(7));
  expect(forms.slice(2)).toEqual(
    ['r1', 'r2'].map((token) => ({ grant_type: 'refresh_token', client_id: 'cli', refresh_token: token })),
  );
});

test('a token that many requests find refused is refreshed once', async () => {
  const client = clientOf();
  await client.articles.get(7);
  refused.add('Bearer t1');
  await allOf(10, () => client.articles.get(7));
  expect(grants()).toEqual(['device_code', 'refresh_token']);
});

test('a session that has ended shows another code', async () => {
  const client = clientOf();
  await client.articles.get(7);
  refused.add('Bearer t1');
  refreshToken = undefined;
  await client.articles.get(7);
  expect(shown).toHaveLength(2);
});

test('stored tokens work in the next run, but for no other server or client', async () => {
  const store = memoryStore();
  await sessionOf({ store }).signIn();
  await sessionOf({ store }).signIn();
  expect(shown).toHaveLength(1);
  await sessionOf({ store, clientId: 'other' }).signIn();
  expect(shown).toHaveLength(2);
});

test('of two simultaneous refreshes, the second takes the result of the first', async () => {
  const store = memoryStore();
  lifetimeSeconds = 0;
  await sessionOf({ store }).signIn();
  lifetimeSeconds = 300;
  await Promise.all([sessionOf({ store }).signIn(), sessionOf({ store }).signIn()]);
  expect(grants()).toEqual(['device_code', 'refresh_token']);
});

test('a sign-out deletes the stored tokens and revokes them on the server', async () => {
  const session = sessionOf();
  await session.signIn();
  await session.signOut();
  expect(forms.at(-1)).toEqual({ client_id: 'cli', token: 'r1', token_type_hint: 'refresh_token' });
  await session.signIn();
  expect(shown).toHaveLength(2);
});

test.each([400, 302])(
  'a sign-out deletes the stored tokens even if the server does not revoke them (%i)',
  async (status) => {
    const store = memoryStore();
    const session = sessionOf({ store });
    await session.signIn();
    revocationStatus = status;
    await expect(session.signOut()).rejects.toMatchObject({ name: 'Problem', status });
    let text: string | undefined = 'never read';
    await store.update(async (kept) => {
      text = kept;
      return kept;
    });
    expect([text, forms.filter(({ token }) => token !== undefined).length]).toEqual([undefined, 1]);
    await session.signIn();
    expect(shown).toHaveLength(2);
  },
);
