import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AccountVisit, anAddress, openAccountVisit, password, titleOf } from '../../test/engines/account-visit.ts';
import type { AccountsSite } from '../../test/engines/accounts-site.ts';
import { openHandBrowser } from '../../test/engines/browser-by-hand.ts';
import { signInToAccount, somebodyAt } from '../../test/engines/own-account.ts';
import { until } from '../../test/engines/until.ts';

let visit: AccountVisit;
let site: AccountsSite;
beforeAll(async () => {
  visit = await openAccountVisit();
  site = visit.site;
});
afterAll(() => site?.[Symbol.asyncDispose]());

const aPerson = () => somebodyAt(site);
const signedIn = async (agent?: string) => {
  const person = await aPerson();
  return { person, account: await signInToAccount(site, person, agent) };
};

describe('the profile', () => {
  test('is changed in the name of whom it is about, and found by the new address', async () => {
    const { person, account } = await signedIn();
    const email = anAddress();
    const page = await account.fill('/account/profile', { name: ' Ada King ', email });
    expect(page.body).toContain('Your profile is saved.');
    expect((await account.get('/account')).body).toContain('<h1>Ada King</h1>');
    const event = await visit.eventOf('user.updated', person.userId);
    expect(event).toMatchObject({
      data: { name: 'Ada King', email },
      metadata: { actor: `user:${person.userId}`, client: 'annals-account' },
    });
    await until(() => site.auth.persons.byEmail(email), Boolean);
    await signInToAccount(site, { email, password });
  });

  test('with an address that somebody has says so, and keeps what was typed', async () => {
    const { account } = await signedIn();
    const { email } = await aPerson();
    const page = await account.fill('/account/profile', { name: 'Ada', email: email.toUpperCase() });
    expect([page.status, titleOf(page)]).toEqual([409, 'Not yet: Profile']);
    expect(page.body).toContain('Another account has this address.');
    expect(page.body).toContain(`value="${email.toUpperCase()}"`);
  });

  test('that is none is told', async () => {
    const { account } = await signedIn();
    const page = await account.fill('/account/profile', { name: ' ', email: 'ada' });
    expect(page.status).toBe(422);
    expect(page.body).toContain('<a href="#name">Enter a name');
    expect(page.body).toContain('<a href="#email">Enter an e-mail address');
  });

  test('cannot be used to ask for many addresses', async () => {
    const { account } = await signedIn();
    const { email } = await aPerson();
    const page = await account.get('/account/profile');
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 30) statuses.push((await account.send(page, { name: 'Ada', email })).status);
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(409));
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('deleting the account', () => {
  test('needs the words and the password', async () => {
    const { person, account } = await signedIn();
    const page = await account.get('/account/delete');
    for (const [fields, words] of [
      [{ confirmation: 'yes', password }, 'Type “delete my account”.'],
      [{ confirmation: 'delete my account', password: 'something else' }, 'This is not your password.'],
    ] as const) {
      const { status, body } = await account.send(page, fields);
      expect([status, body.includes(words)], words).toEqual([422, true]);
    }
    expect(await site.auth.persons.byId(person.userId)).toMatchObject({ status: 'active' });
  });

  test('ends the session at once, and shows what was erased to who has the receipt', async () => {
    const { person, account } = await signedIn();
    const answered = await account.send(await account.get('/account/delete'), { confirmation: 'Delete my account', password });
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
    expect(await visit.eventOf('user.deleted', person.userId)).toMatchObject({ metadata: { actor: `user:${person.userId}` } });
    const other = new URL(url);
    other.searchParams.set('user', String(person.userId - 1));
    expect((await openHandBrowser().get(other.href)).status).toBe(404);
    expect((await openHandBrowser().get(`${site.url}/account/erased`)).status).toBe(404);
  });
});
