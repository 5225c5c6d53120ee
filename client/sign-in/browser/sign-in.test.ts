import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOME, openPage } from '../../../test/engines/fake-page.ts';
import { startLocalServer } from '../../../test/engines/local-server.ts';
import { until } from '../../../testing/until.ts';
import { signIn } from './sign-in.ts';

/** One call, in pages without a browser. Chromium tests it against an installation (`test/pages`). */
const LOCAL = 'http://localhost:5173/a/page.html';
const STORED = { storage: 'memory', dpop: false } as const;
let open: AsyncDisposableStack;
let url: string;
let forms: URLSearchParams[];
let isDevelopment: boolean;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  [forms, isDevelopment] = [[], true];
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
  const server = await startLocalServer(async (request, response) => {
    const sent: Buffer[] = [];
    for await (const chunk of request) sent.push(chunk as Buffer);
    if (request.url === '/token') forms.push(new URLSearchParams(Buffer.concat(sent).toString()));
    const token = { access_token: 't', token_type: 'Bearer', expires_in: 300, refresh_token: 'r' };
    const metadata = { issuer: url, ...(isDevelopment && { local_pages_supported: true }) };
    const body = request.url === '/token' ? token : request.url === '/me' ? { id: 7 } : metadata;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  open.use(server);
  url = server.url;
});
afterEach(() => open.disposeAsync());

const askedAt = (address: string | undefined): Record<string, string> =>
  Object.fromEntries(new URL(address ?? '').searchParams);
const answerAt = (at: string, asked: Record<string, string>, more: object = { code: 'one' }): string =>
  `${at}?${new URLSearchParams({ state: asked.state ?? '', iss: url, ...more })}`;

const goToSignIn = async () => {
  const left = openPage({ href: LOCAL });
  const signing = signIn({ url, ...STORED }, left.page);
  signing.catch(() => {});
  await until(
    () => left.went,
    ({ length }) => length === 1,
  );
  return { ...left, signing };
};

test('a page on this machine goes to the sign-in page, and the return completes it', async () => {
  const { kept, went } = await goToSignIn();
  const asked = askedAt(went[0]);
  expect(asked).toMatchObject({ client_id: 'page-localhost-5173', redirect_uri: LOCAL });
  const { page } = openPage({ href: answerAt(LOCAL, asked), kept });
  const { client, session } = await signIn({ url, ...STORED }, page);
  expect([session.isSignedIn, page.location.href, await client.me()]).toEqual([true, LOCAL, { id: 7 }]);
  expect(forms.map((form) => [form.get('client_id'), form.get('redirect_uri')])).toEqual([
    ['page-localhost-5173', LOCAL],
  ]);
  // A page has one session.
  expect((await signIn({ url, ...STORED }, page)).session).toBe(session);
});

test('a page that does not require it reads public data, and nobody is asked', async () => {
  const { page, went } = openPage({ href: LOCAL });
  const { client, session } = await signIn({ url, ...STORED, required: false }, page);
  expect([session.isSignedIn, await client.me(), went]).toEqual([false, { id: 7 }, []]);
});

test.each(['https://page.example/', 'http://192.168.1.7:5173/', 'https://localhost:5173/'])(
  'the sentence for the page %s without a client names the command that registers it',
  async (href) => {
    const { page } = openPage({ href });
    await expect(signIn({ url }, page)).rejects.toMatchObject({
      name: 'Problem',
      code: 'page_not_registered',
      message: `Annals does not know this page: register it with \`annals client create Page --id page --redirect-uri ${href} --scope 'openid …'\`, and pass clientId: 'page'`,
    });
  },
);

test('so does that for a page on this machine, if the server runs in production', async () => {
  isDevelopment = false;
  const { page, went } = openPage({ href: LOCAL });
  await expect(signIn({ url, ...STORED }, page)).rejects.toMatchObject({ code: 'page_not_registered' });
  expect(went).toEqual([]);
});

test('a refusal is an error once, and does not lead to the sign-in page again', async () => {
  const { kept, went } = await goToSignIn();
  const answer = { error: 'access_denied', error_description: 'Ada does not want to' };
  const { page, ...back } = openPage({ href: answerAt(LOCAL, askedAt(went[0]), answer), kept });
  await expect(signIn({ url, ...STORED }, page)).rejects.toMatchObject({
    code: 'access_denied',
    message: 'Ada does not want to',
  });
  expect(back.went).toEqual([]);
});

test('a page that the browser brings back without an answer says so', async () => {
  const { shown, signing } = await goToSignIn();
  for (const show of shown) show({ persisted: true });
  await expect(signing).rejects.toMatchObject({ code: 'access_denied' });
});

const OF_CLIENT = { clientId: 'page', ...STORED } as const;
const beginInPopup = async () => {
  const one = openPage();
  const signing = signIn({ url, ...OF_CLIENT, popup: true }, one.page);
  signing.catch(() => {});
  await until(
    () => one.windows.at(-1)?.location.href,
    (href) => href?.startsWith(url) === true,
  );
  return { ...one, signing, asked: askedAt(one.windows.at(-1)?.location.href) };
};

test('a window of its own signs in, passes the answer on and is closed', async () => {
  const { windows, signing, asked, went } = await beginInPopup();
  const inside = openPage({ href: answerAt(HOME, asked) });
  void signIn({ url, ...OF_CLIENT }, inside.page);
  const { session } = await signing;
  expect([session.isSignedIn, windows.map(({ isClosed, opener }) => [isClosed, opener]), went]).toEqual([
    true,
    [[true, null]],
    [],
  ]);
  await until(inside.isClosed, Boolean);
  // The code is in no address any more, and the window has sent no request.
  expect([inside.page.location.href, inside.went, forms.length]).toEqual([HOME, [], 1]);
  expect(forms[0]?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
});

test.each([
  ['access_denied', { error: 'access_denied' }],
  ['issuer_mismatch', { code: 'one', iss: 'https://evil.example' }],
])('a window that returns with %s is refused', async (code, answer) => {
  const { windows, signing, asked } = await beginInPopup();
  const inside = openPage({ href: answerAt(HOME, asked, answer) });
  void signIn({ url, ...OF_CLIENT }, inside.page);
  await expect(signing).rejects.toMatchObject({ code });
  await until(inside.isClosed, Boolean);
  expect([windows[0]?.isClosed, forms.length]).toEqual([true, 0]);
});

test('a forged answer of a window is taken by nobody', async () => {
  const { page } = openPage({ href: `${HOME}?code=one&state=popup.forged` });
  await expect(signIn({ url, ...OF_CLIENT, required: false }, page)).rejects.toMatchObject({
    code: 'state_mismatch',
  });
  const { session } = await signIn({ url, ...OF_CLIENT, required: false }, page);
  expect([session.isSignedIn, forms.length, page.location.href]).toEqual([false, 0, HOME]);
});

test('a blocked window is a problem that says what to do', async () => {
  const { page } = openPage({ isPopupBlocked: true });
  await expect(signIn({ url, ...OF_CLIENT, popup: true }, page)).rejects.toMatchObject({
    code: 'popup_blocked',
    message: expect.stringContaining('call signIn when the user clicks'),
  });
});

test('a second window replaces the first', async () => {
  const { page, windows, signing } = await beginInPopup();
  void signIn({ url, ...OF_CLIENT, popup: true }, page).catch(() => {});
  await expect(signing).rejects.toMatchObject({ code: 'popup_replaced' });
  expect(windows[0]?.isClosed).toBe(true);
});
