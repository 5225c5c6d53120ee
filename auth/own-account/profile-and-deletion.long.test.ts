import { describe, expect, test } from 'vitest';
import { anAddress, password, titleOf } from '../../test/engines/account-visit.ts';
import { openAccountFixture, signInToAccount } from '../../test/engines/own-account.ts';
import { openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';

const accounts = openAccountFixture();

describe('the profile', () => {
  test('is changed in the name of its owner, who is found by the new address', async () => {
    const { person, account } = await accounts.signedIn();
    const email = anAddress();
    const page = await account.fill('/account/profile', { name: ' Ada King ', email });
    expect(page.body).toContain('Your profile is saved.');
    expect((await account.get('/account')).body).toContain('<h1>Ada King</h1>');
    const event = await accounts.visit.eventOf('user.updated', person.userId);
    expect(event).toMatchObject({
      data: { name: 'Ada King', email },
      metadata: { actor: `user:${person.userId}`, client: 'annals-account' },
    });
    await until(() => accounts.site.auth.persons.byEmail(email), Boolean);
    await signInToAccount(accounts.site, { email, password });
  });

  test('with a taken address shows that, and keeps the typed values', async () => {
    const { account } = await accounts.signedIn();
    const { email } = await accounts.aPerson();
    const page = await account.fill('/account/profile', { name: 'Ada', email: email.toUpperCase() });
    expect([page.status, titleOf(page)]).toEqual([409, 'Not yet: Profile']);
    expect(page.body).toContain('Another account has this address.');
    expect(page.body).toContain(`value="${email.toUpperCase()}"`);
  });

  test('with an invalid address shows the error', async () => {
    const { account } = await accounts.signedIn();
    const page = await account.fill('/account/profile', { name: ' ', email: 'ada' });
    expect(page.status).toBe(422);
    expect(page.body).toContain('<a href="#name">Enter a name');
    expect(page.body).toContain('<a href="#email">Enter an e-mail address');
  });

  test('cannot be used to probe many addresses', async () => {
    const { account } = await accounts.signedIn();
    const { email } = await accounts.aPerson();
    const page = await account.get('/account/profile');
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 30)
      statuses.push((await account.send(page, { name: 'Ada', email })).status);
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(409));
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('deleting the account', () => {
  test('needs the phrase and the password', async () => {
    const { person, account } = await accounts.signedIn();
    const page = await account.get('/account/delete');
    for (const [fields, words] of [
      [{ confirmation: 'yes', password }, 'Type “delete my account”.'],
      [{ confirmation: 'delete my account', password: 'something else' }, 'This is not your password.'],
    ] as const) {
      const { status, body } = await account.send(page, fields);
      expect([status, body.includes(words)], words).toEqual([422, true]);
    }
    expect(await accounts.site.auth.persons.byId(person.userId)).toMatchObject({ status: 'active' });
  });

  test('ends the session at once, and shows the report of the erasure to the holder of the receipt', async () => {
    const { person, account } = await accounts.signedIn();
    const answered = await account.send(await account.get('/account/delete'), {
      confirmation: 'Delete my account',
      password,
    });
    const url = answered.location ?? '';
    expect(answered.status).toBe(303);
    const page = await until(
      () => openHandBrowser().get(url),
      ({ body }) => body.includes('Key destroyed</dt><dd><time'),
    );
    expect(page.body).toContain(`<dd>${person.userId}</dd>`);
    expect(page.body).not.toContain(person.email);
    expect(account.browser.cookies.has('annals_session')).toBe(false);
    expect(titleOf(await account.get('/account'))).toBe('Sign in');
    expect(await accounts.visit.eventOf('user.deleted', person.userId)).toMatchObject({
      metadata: { actor: `user:${person.userId}` },
    });
    const other = new URL(url);
    other.searchParams.set('user', String(person.userId - 1));
    expect((await openHandBrowser().get(other.href)).status).toBe(404);
    expect((await openHandBrowser().get(`${accounts.site.url}/account/erased`)).status).toBe(404);
  });

  test('is refused to the last administrator, and to one of two parallel requests', async () => {
    const admins = [await accounts.signedIn({ role: 'admin' }), await accounts.signedIn({ role: 'admin' })];
    const pages = await Promise.all(admins.map(({ account }) => account.get('/account/delete')));
    const form = { confirmation: 'delete my account', password };
    const answers = await Promise.all(
      admins.map(({ account }, index) => account.send(pages[index] as Seen, form)),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    const left = admins.find(({ account }) => account.browser.cookies.has('annals_session'));
    const refused = await left?.account.get('/account/delete');
    expect([refused?.status, refused?.body.includes('Make another person an administrator first')]).toEqual([
      409,
      true,
    ]);
    expect(refused?.body).not.toContain('<form');
    const repeated = await left?.account.send(pages[admins.indexOf(left)] as Seen, form);
    expect(repeated?.status).toBe(409);
    expect(await accounts.site.auth.persons.byId(left?.person.userId ?? (0 as never))).toMatchObject({
      status: 'active',
    });
  });
});
