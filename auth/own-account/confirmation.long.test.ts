import { describe, expect } from 'vitest';
import { anAddress, challenge, from, password, titleOf } from '../../test/engines/account-visit.ts';
import { test as base } from '../../test/engines/accounts-fixture.ts';
import { openAccountsSite } from '../../test/engines/accounts-site.ts';
import { openAuthenticator, passkeyFormIn } from '../../test/engines/authenticator.ts';
import {
  type OwnAccount,
  openOwnAccount,
  signInToAccount,
  somebodyAt,
} from '../../test/engines/own-account.ts';
import { passkeyVisits } from '../../test/engines/passkey-visits.ts';
import { openCodeApp, setUpCodes } from '../../test/engines/second-factor.ts';
import { linkIn } from '../../test/engines/smtp-receiver.ts';
import { until } from '../../testing/until.ts';

const test = base
  .extend('siteOptions', { scope: 'file' }, { trustProxy: 1, signUp: 'off', isNamed: true })
  /** A person whose account predates the confirmation of addresses. */
  .extend('unconfirmed', { scope: 'file' }, ({ site }) => async () => {
    const person = { email: anAddress(), password };
    const userId = await site.addPerson({ ...person, isConfirmed: false });
    return { person, userId, account: await signInToAccount(site, person) };
  })
  .extend(
    'makeUnconfirmed',
    { scope: 'file' },
    ({ site }) =>
      (userId: number) =>
        site.pool.query('update auth.person set confirmed_at = null where user_id = $1', [userId]),
  )
  .extend(
    'linkFor',
    { scope: 'file' },
    ({ smtp }) =>
      async ({ person, account }: { person: { email: string }; account: OwnAccount }, after?: number) => {
        expect((await account.fill('/account/confirm', { do: 'send' })).body).toContain(
          'A message is on its way.',
        );
        return linkIn(await smtp.mailTo(person.email, after));
      },
  )
  .extend(
    'authorize',
    { scope: 'file' },
    ({ site }) =>
      (account: OwnAccount, client: string) =>
        account.get(
          `/authorize?${new URLSearchParams({ client_id: client, redirect_uri: `${site.appUrl}/callback`, code_challenge: challenge, state: 'st' })}`,
        ),
  );
test.beforeAll(async ({ site }) => {
  await site.addClient('reading-list');
  await site.addClient('annals-app', { firstParty: true, name: 'Annals App' });
});

const FIRST = 'Confirm your address first';

describe('an account with an unconfirmed address', () => {
  test('gets no passkey, no codes and no third-party application, even by older forms; first-party ones work', async ({
    authorize,
    makeUnconfirmed,
    site,
    unconfirmed,
  }) => {
    const { person, userId, account } = await unconfirmed();
    await site.pool.query('update auth.person set confirmed_at = now() where user_id = $1', [userId]);
    const [passkeys, codes, consent] = [
      await account.get('/account/passkeys'),
      await account.get('/account/second-factor'),
      await authorize(account, 'reading-list'),
    ];
    await makeUnconfirmed(userId);
    const { options, fields } = passkeyFormIn(passkeys.body);
    const credential = openAuthenticator(site.url).create(options);
    await account.browser.post(
      `${site.url}/account/passkeys`,
      { ...fields, credential, name: 'Mine' },
      from(),
    );
    await account.send(codes, { do: 'turn-on', code: openCodeApp(codes.body).next() });
    const refused = await account.send(consent, { decision: 'allow' });
    expect([refused.status, titleOf(refused)]).toEqual([403, FIRST]);
    const rowsIn = async (table: string) =>
      (await site.pool.query(`select from auth.${table} where user_id = $1`, [userId])).rowCount;
    expect([await rowsIn('passkey'), await rowsIn('second_factor')]).toEqual([0, 0]);
    for (const page of ['/account/passkeys', '/account/security'])
      expect((await account.get(page)).body, page).toContain(FIRST);
    expect(titleOf(await account.get('/account/second-factor'))).toBe('Confirm your address');
    const again = await authorize(account, 'reading-list');
    expect([again.status, titleOf(again)]).toEqual([403, FIRST]);
    expect(
      (await account.browser.follow(await account.send(again, { decision: 'deny' }))).location,
    ).toContain('error=access_denied');
    expect((await authorize(account, 'annals-app')).location).toContain('code=');
    await signInToAccount(site, person);
  });

  test('gets all of it once its owner has opened the mailed link, which works once', async ({
    authorize,
    linkFor,
    site,
    unconfirmed,
  }) => {
    const { person, account } = await unconfirmed();
    const link = await linkFor({ person, account });
    // In another browser, where they sign in first.
    const elsewhere = openOwnAccount(site);
    const question = await elsewhere.browser.follow(await elsewhere.browser.get(link));
    const page = await elsewhere.browser.follow(await elsewhere.send(question, person));
    expect(titleOf(page)).toBe('Confirm your address');
    const done = await elsewhere.browser.follow(await elsewhere.send(page, { do: 'confirm' }));
    expect(done.body).toContain('Your address is confirmed.');
    expect(done.body).not.toContain(FIRST);
    expect(titleOf(await authorize(elsewhere, 'reading-list'))).toContain('Allow Reading List');
    await setUpCodes(account);
  });

  test('is not confirmed by a used link, one of another account, or one that went to another address', async ({
    linkFor,
    makeUnconfirmed,
    unconfirmed,
  }) => {
    const { person, userId, account } = await unconfirmed();
    const link = await linkFor({ person, account });
    const page = await account.browser.get(link);
    const stranger = await unconfirmed();
    expect((await stranger.account.browser.get(link)).status).toBe(410);
    await account.send(page, { do: 'confirm' });
    await makeUnconfirmed(userId);
    expect((await account.send(page, { do: 'confirm' })).status).toBe(410);
    const former = await linkFor({ person, account }, 1);
    await account.fill('/account/profile', { name: 'Ada', email: anAddress() });
    expect((await account.browser.get(former)).status).toBe(410);
  });

  test('gets five messages, and then none for a while', async ({ unconfirmed }) => {
    const { account } = await unconfirmed();
    const statuses: number[] = [];
    for (let times = 1; times <= 6; times += 1)
      statuses.push((await account.fill('/account/confirm', { do: 'send' })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

test('a confirmation does not carry over to a new address: the first password link sent there removes the passkey', async ({
  site,
  smtp,
}) => {
  const { register, signInBy } = passkeyVisits({
    site,
    signedIn: () => Promise.reject(new Error('is not asked')),
  });
  const somebody = await somebodyAt(site);
  const thief = await signInToAccount(site, somebody);
  const [theirs, mine] = [openAuthenticator(site.url), openAuthenticator(site.url)];
  expect((await register(thief, theirs)).status).toBe(303);
  const email = anAddress();
  await thief.fill('/account/profile', { name: 'Ada', email });
  await until(
    () => site.auth.persons.byEmail(email),
    (found) => found?.userId === somebody.userId,
  );
  expect((await thief.get('/account/passkeys')).body).toContain(FIRST);
  const choose = async (chosen: string, after: number) => {
    const account = openOwnAccount(site);
    await account.send(await account.get('/account/reset'), { email });
    const page = await account.browser.get(linkIn(await smtp.mailTo(email, after)));
    expect((await account.send(page, { password: chosen })).status).toBe(303);
    return signInToAccount(site, { email, password: chosen });
  };
  const owner = await choose('a wholly new password', 0);
  expect((await signInBy(theirs)).answer.status).not.toBe(303);
  expect((await register(owner, mine)).status).toBe(303);
  // Another spelling of the same address stays confirmed.
  await owner.fill('/account/profile', { name: 'Ada', email: email.toUpperCase() });
  expect((await owner.get('/account/passkeys')).body).not.toContain(FIRST);
});

test('a confirmed account has nothing to confirm, nor has any account if no mail reaches people', async ({
  site,
}) => {
  const confirmed = await signInToAccount(site, await somebodyAt(site));
  expect(titleOf(await confirmed.get('/account/confirm'))).toBe('Signing in');
  await using without = await openAccountsSite({ trustProxy: 1 });
  const person = { email: anAddress(), password };
  await without.addPerson({ ...person, isConfirmed: false });
  const account = await signInToAccount(without, person);
  expect((await account.get('/account/confirm')).body).not.toContain(FIRST);
  expect((await setUpCodes(account)).recoveryCodes).toHaveLength(10);
});
