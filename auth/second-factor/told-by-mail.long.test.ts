import { expect } from 'vitest';
import { from, password } from '../../test/engines/account-visit.ts';
import { test as base } from '../../test/engines/accounts-fixture.ts';
import { openAuthenticator, passkeyFormIn } from '../../test/engines/authenticator.ts';
import { openOwnAccount, signInToAccount, somebodyAt } from '../../test/engines/own-account.ts';
import { setUpCodes } from '../../test/engines/second-factor.ts';

const test = base
  .extend('siteOptions', { scope: 'file' }, { trustProxy: 1, signUp: 'off', isNamed: true })
  .extend('withCodes', { scope: 'file' }, ({ site, smtp }) => async () => {
    const person = await somebodyAt(site);
    const app = await setUpCodes(await signInToAccount(site, person));
    await smtp.mailTo(person.email);
    return { person, app };
  })
  .extend('givePassword', { scope: 'file' }, ({ site }) => async (email: string) => {
    const account = openOwnAccount(site);
    return { account, question: await account.send(await account.get('/account'), { email, password }) };
  });

test('the owner is mailed that a recovery code was used, and how many are left', async ({
  givePassword,
  smtp,
  withCodes,
}) => {
  const { person, app } = await withCodes();
  const { account, question } = await givePassword(person.email);
  await account.send(question, { recovery: app.recoveryCodes[0] ?? '' });
  const told = await smtp.mailTo(person.email, 1);
  expect([told.subject, told.text.includes('You have 9 left.')]).toEqual(['A recovery code was used', true]);
});

test.for(['code', 'recovery'])(
  'once, that somebody has the password and tries for the %s',
  async (field, { givePassword, smtp, withCodes }) => {
    const { person } = await withCodes();
    const { account, question } = await givePassword(person.email);
    for (let times = 1; times <= 21; times += 1)
      await account.send(question, { [field]: '0000-0000-0000-0000' });
    expect((await smtp.mailTo(person.email, 1)).subject).toBe('Somebody knows your password');
    // Another one would have been sent before this.
    await account.send(await account.get('/account/reset'), { email: person.email });
    expect((await smtp.mailTo(person.email, 2)).subject).toBe('Choose a new password');
  },
);

test('the owner is mailed that a copied passkey was refused', async ({ site, smtp }) => {
  const person = await somebodyAt(site);
  const account = await signInToAccount(site, person);
  const key = openAuthenticator(site.url);
  const send = async (
    visitor: typeof account,
    path: string,
    answer: (form: ReturnType<typeof passkeyFormIn>) => string,
  ) => {
    const form = passkeyFormIn((await visitor.get(path)).body);
    return visitor.browser.post(
      `${site.url}${form.action}`,
      { ...form.fields, name: 'Key ring', credential: answer(form) },
      from(),
    );
  };
  await send(account, '/account/passkeys', ({ options }) => key.create(options));
  await smtp.mailTo(person.email);
  expect((await send(openOwnAccount(site), '/account', ({ options }) => key.get(options))).status).toBe(303);
  await send(openOwnAccount(site), '/account', ({ options }) => key.get(options, { counter: 1 }));
  const told = await smtp.mailTo(person.email, 1);
  expect([told.subject, told.text.includes('a copy of one of your passkeys')]).toEqual([
    'A passkey was refused',
    true,
  ]);
});
