import { expect } from 'vitest';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import { titleOf } from '../engines/account-visit.ts';
import { type Asked, openAuthenticator, passkeyFormIn } from '../engines/authenticator.ts';
import { callLine } from '../engines/call-line.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { openOwnAccount } from '../engines/own-account.ts';
import { setUpCodes } from '../engines/second-factor.ts';
import { linkIn, startSmtpReceiver } from '../engines/smtp-receiver.ts';

const site = 'https://annals.example';

/** The life of an account, from the invitation to the report of its erasure, with closed sign-up. */

const test = base
  .extend('openSmtp', { scope: 'file' }, () => startSmtpReceiver)
  .extend('smtp', { scope: 'file' }, async ({ openSmtp }, { onCleanup }) => {
    const smtp = await openSmtp();
    onCleanup(() => smtp[Symbol.asyncDispose]());
    return smtp;
  })
  .extend('installationOptions', { scope: 'file' }, ({ smtp }) => ({
    settings: {
      PUBLIC_URL: site,
      SIGNUP: 'off',
      MAIL_URL: smtp.url,
      MAIL_FROM: 'Annals <annals@example.com>',
    },
  }))
  .extend(
    'annals',
    { scope: 'file' },
    ({ installation }) =>
      async (...args: readonly string[]): Promise<string> => {
        const { exit, lines, complaint } = await callLine(installation.settings, args);
        expect(exit, complaint).toBe(0);
        return lines.join('\n');
      },
  )
  .extend('visitor', { scope: 'file' }, ({ installation }) => () => {
    return openOwnAccount(installation, openHandBrowser(installation.fetch));
  });

type OwnAccount = ReturnType<typeof openOwnAccount>;

const follow = async ({ browser, send }: OwnAccount, url: string, fields: Record<string, string>) =>
  browser.follow(await send(await browser.get(url), fields, {}));
const fill = async (account: OwnAccount, path: string, fields: Record<string, string>) =>
  account.browser.follow(await account.send(await account.get(path), fields, {}));

const email = 'root@example.com';
const guest = 'guest@example.com';
const password = 'correct horse battery';
const other = 'a wholly new password';

test('an operator invites an administrator, who invites an author, who recovers from a forgotten password', async ({
  annals,
  smtp,
  visitor,
}) => {
  const link = await annals('invite', email, '--role', 'admin');
  expect(titleOf(await follow(visitor(), link, { name: 'Root', password }))).toBe('Your account is ready');
  const admin = visitor();
  expect(titleOf(await fill(admin, '/account', { email, password }))).toBe('Your account');
  await fill(admin, '/account/invitations', { do: 'invite', email: guest, role: 'author' });
  await follow(visitor(), linkIn(await smtp.mailTo(guest)), { name: 'Guest', password });
  expect(titleOf(await fill(visitor(), '/account/reset', { email: guest }))).toBe('Check your mail');
  expect(titleOf(await follow(visitor(), linkIn(await smtp.mailTo(guest, 1)), { password: other }))).toBe(
    'Your password was changed',
  );
});

test('an operator helps a user who gets no mail', async ({ annals, visitor }) => {
  await follow(visitor(), await annals('password-link', guest), { password });
  expect(titleOf(await fill(visitor(), '/account', { email: guest, password }))).toBe('Your account');
});

test('an operator turns off the codes of a user who has lost them', async ({ annals, smtp, visitor }) => {
  const account = visitor();
  await fill(account, '/account', { email: guest, password });
  const app = await setUpCodes(account);
  const signIn = () => fill(visitor(), '/account', { email: guest, password });
  expect(titleOf(await signIn())).toBe('Enter a code');
  expect(app.recoveryCodes).toHaveLength(10);
  expect(await annals('account', 'reset-second-factor', guest)).toContain('signs in with the password alone');
  await until(
    () => smtp.messages.filter(({ to }) => to.includes(guest)),
    (messages) =>
      messages.some(({ text }) => text.includes('An operator removed the codes from your account')),
  );
  expect(titleOf(await signIn())).toBe('Your account');
});

test('an operator removes all passkeys of an account', async ({ annals, smtp, visitor }) => {
  const account = visitor();
  await fill(account, '/account', { email: guest, password });
  const key = openAuthenticator(site);
  const sendAt = async (
    { browser, get }: OwnAccount,
    path: string,
    answer: (asked: Asked) => string,
    more = {},
  ) => {
    const { action, options, fields } = passkeyFormIn((await get(path)).body);
    return browser.post(`${site}${action}`, { ...fields, credential: answer(options), ...more }, {});
  };
  const added = await sendAt(account, '/account/passkeys', key.create, { name: 'Key ring' });
  expect((await account.browser.follow(added)).body).toContain('The passkey was added.');
  const signIn = () => sendAt(visitor(), '/account', key.get);
  expect((await signIn()).status).toBe(303);
  expect(await annals('account', 'remove-passkeys', guest)).toContain(
    'Nobody can sign in as guest@example.com with a passkey any more.',
  );
  await until(
    () => smtp.messages.filter(({ to }) => to.includes(guest)),
    (messages) =>
      messages.some(({ text }) => text.includes('An operator removed all passkeys from your account')),
  );
  expect((await signIn()).status).toBe(422);
});

test('users change their profile and password, and end other sessions', async ({ visitor }) => {
  const [here, there] = [visitor(), visitor()];
  for (const account of [here, there]) await fill(account, '/account', { email: guest, password });
  expect((await fill(here, '/account/profile', { name: 'Guest of Honour', email: guest })).body).toContain(
    'Your profile is saved.',
  );
  const form = { current: password, password: other, everywhere: 'yes' };
  const changed = await here.send(await here.get('/account/password'), form, {});
  const renewed = changed.headers.getSetCookie();
  expect(renewed.map((cookie) => cookie.split('=')[0])).toEqual([
    '__Host-annals_session',
    '__Host-annals_session.sig',
  ]);
  for (const cookie of renewed)
    expect(cookie).toMatch(/; path=\/; expires=[^;]+; samesite=lax; secure; httponly$/i);
  expect((await here.browser.follow(changed)).body).toContain('you were signed out everywhere else');
  expect(titleOf(await there.get('/account'))).toBe('Sign in');
  expect((await here.get('/account')).body).toContain('<h1>Guest of Honour</h1>');
  expect((await here.get('/account/sessions')).body.match(/Signed in on/g)).toHaveLength(1);
});

test('they delete the account, and keep the receipt of an erasure that leaves nothing', async ({
  annals,
  installation,
  visitor,
}) => {
  const account = visitor();
  await fill(account, '/account', { email: guest, password: other });
  const answered = await account.send(
    await account.get('/account/delete'),
    { confirmation: 'delete my account', password: other },
    {},
  );
  expect([...account.browser.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
  const receipt = answered.location ?? '';
  const page = await until(
    () => visitor().browser.get(receipt),
    (seen) => titleOf(seen) === 'Your account is deleted',
    30_000,
  );
  expect(page.body).toContain('None of your data is left');
  const userId = new URL(receipt).searchParams.get('user') ?? '';
  expect(JSON.parse(await annals('erasure', 'report', userId, '--json'))).toMatchObject({
    isDone: true,
    asked: { actor: `user:${userId}`, client: 'annals-account' },
  });
  expect((await fill(visitor(), '/account', { email: guest, password: other })).status).toBe(422);
  expect(installation.printed()).not.toMatch(/guest@example|Guest of Honour/);
});
