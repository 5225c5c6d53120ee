import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { policyOf } from '#shared/policy.ts';
import { createClient } from '../../client/client.ts';
import { type DeviceSignIn, deviceSignIn } from '../../client/sign-in/device.ts';
import type { DeviceCode } from '../../client/sign-in/device-code.ts';
import { tokenFile } from '../../client/sign-in/token-file.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { openPeople, PASSWORD, type Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';

/** A command-line program and a whole system. */
const MAIN = 'test/toy/example-main.ts';
/** A busy machine takes long to start a system. */
const retryForMs = 110_000;
const clientId = 'expenses-cli';
const open = new AsyncDisposableStack();
let installation: Installation;
let eve: Person;
let path: string;
let serving: RoleProcess | undefined;

beforeAll(async () => {
  installation = open.use(
    await startInstallation({
      ownProcess: true,
      of: { domain: expenses, main: MAIN },
    }),
  );
  open.defer(() => serving?.[Symbol.asyncDispose]());
  const people = await openPeople(installation);
  const scope = policyOf(expenses).scopes.join(' ');
  await operate(
    ['client', 'create', 'Expenses at the terminal', '--id', clientId, '--device', '--scope', scope],
    installation.settings,
    expenses,
  );
  eve = await people.signUp('Eve');
  const folder = await mkdtemp(join(tmpdir(), 'annals-'));
  open.defer(() => rm(folder, { recursive: true }));
  path = join(folder, 'session.json');
});
afterAll(() => open.disposeAsync());

/** Eve reads the code on her terminal, and enters it. */
const enter = async ({ verificationUri, userCode }: DeviceCode, decision: 'allow' | 'abort') => {
  const browser = openHandBrowser(installation.fetch);
  const page = await browser.get(verificationUri);
  const confirm = await browser.post(page.action, { ...page.hidden, user_code: userCode });
  if (decision === 'abort') {
    await browser.post(confirm.action, { ...confirm.hidden, abort: 'yes' });
    return;
  }
  const signIn = await browser.follow(
    await browser.post(confirm.action, { ...confirm.hidden, confirm: 'yes' }),
  );
  const { email } = eve;
  const consent = await browser.follow(
    await browser.post(signIn.action, { ...signIn.hidden, email, password: PASSWORD }),
  );
  const done = await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision }));
  expect(done.body).toContain('The device is connected');
};

const neverShown = () => {
  throw new Error('a code was shown');
};
const sessionOf = (options: Partial<DeviceSignIn> = {}) =>
  deviceSignIn({
    url: installation.origin,
    clientId,
    show: neverShown,
    store: tokenFile(path),
    retryForMs,
    ...options,
  });
const clientOf = (token: ReturnType<typeof sessionOf>) =>
  createClient<typeof expenses>({ url: installation.origin, token, retryForMs });

/** The first poll need not wait: the server refuses only a second one that comes too soon. */
const pollingAtOnce = async (input: string, init: RequestInit) => {
  const response = await fetch(input, init);
  if (!input.endsWith('/device_authorization')) return response;
  return Response.json({ ...((await response.json()) as object), interval: 0 });
};

test('a user who denies the code denies the program', async () => {
  const session = sessionOf({ show: (code) => enter(code, 'abort'), fetch: pollingAtOnce });
  await expect(clientOf(session).me()).rejects.toMatchObject({ name: 'Problem', code: 'access_denied' });
});

test('a sign-in by code survives a kill of the server between two polls', async () => {
  const shown = Promise.withResolvers<DeviceCode>();
  const polled = Promise.withResolvers<void>();
  const watching = async (input: string, init: RequestInit) => {
    const response = await fetch(input, init);
    if (String(init.body).includes('device_code=')) polled.resolve();
    return response;
  };
  const client = clientOf(sessionOf({ show: shown.resolve, fetch: watching }));
  const asked = client.me();
  const code = await shown.promise;
  await polled.promise;
  await installation.query[0]?.kill('SIGKILL');
  serving = startRole(MAIN, { ...installation.settings, PORT: new URL(installation.origin).port });
  await until(
    () => fetch(`${installation.origin}/device`).catch(() => undefined),
    (response) => response?.ok === true,
  );
  await enter(code, 'allow');
  expect(await asked).toMatchObject({ id: eve.userId, name: 'Eve' });
});

test('the next run of the program is signed in', async () => {
  expect(await clientOf(sessionOf()).me()).toMatchObject({ name: 'Eve' });
});

test('two processes that refresh at once both continue, and so does the next', async () => {
  const [one, other] = [sessionOf(), sessionOf()] as const;
  const refuse = async (session: typeof one) => {
    const headers = await session.authorize({ method: 'GET', url: installation.origin });
    return () => session.refused?.(new Response(), headers);
  };
  const refusals = [await refuse(one), await refuse(other)];
  for (const refused of refusals) await refused();
  const named = await Promise.all([one, other].map((session) => clientOf(session).me()));
  expect(named).toMatchObject([{ name: 'Eve' }, { name: 'Eve' }]);
  const next = sessionOf();
  await (await refuse(next))();
  expect(await clientOf(next).me()).toMatchObject({ name: 'Eve' });
});

test('after signing out, the refresh token is worthless', async () => {
  const former = sessionOf();
  await former.signIn();
  const kept: (string | undefined)[] = [];
  await tokenFile(path).update(async (text) => {
    kept.push(text);
    return text;
  });
  await former.signOut();
  const restored = sessionOf({ store: { update: async (change) => void (await change(kept[0])) } });
  const headers = await restored.authorize({ method: 'GET', url: installation.origin });
  await restored.refused?.(new Response(), headers);
  await expect(restored.signIn()).rejects.toThrow('a code was shown');
});
