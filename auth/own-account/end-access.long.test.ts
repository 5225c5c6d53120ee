import { describe, expect, test } from 'vitest';
import { password, titleOf } from '../../test/engines/account-visit.ts';
import {
  credentialsOf,
  openAccountFixture,
  openOwnAccount,
  signInToAccount,
} from '../../test/engines/own-account.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';

/** A person ends the access to their account: by a new password, or by application or browser. */
const accounts = openAccountFixture();

describe('the password', () => {
  const next = 'a wholly new password';

  test('is changed with the current one, and the browser’s session gets a new secret', async () => {
    const { person, account } = await accounts.signedIn();
    const before = account.browser.cookies.get('annals_session')?.value;
    const stolen = openHandBrowser();
    for (const [name, cookie] of account.browser.cookies) stolen.cookies.set(name, cookie);
    const page = await account.fill('/account/password', { current: password, password: next });
    expect(page.body).toContain('Your password was changed.');
    expect(account.browser.cookies.get('annals_session')?.value).not.toBe(before);
    expect(titleOf(await account.get('/account'))).toBe('Your account');
    expect(titleOf(await openOwnAccount(accounts.site, stolen).get('/account'))).toBe('Sign in');
    await signInToAccount(accounts.site, { email: person.email, password: next });
    await expect(signInToAccount(accounts.site, person)).rejects.toThrow('nobody is signed in');
    expect(await accounts.visit.eventOf('account.password_changed', person.userId)).toMatchObject({
      data: { by: 'password' },
    });
  });

  test('can end all other sessions and the grants of applications, or keep them', async () => {
    const person = await accounts.aPerson();
    const [here, there] = [
      await signInToAccount(accounts.site, person),
      await signInToAccount(accounts.site, person),
    ];
    const consent = await here.browser.follow(await here.browser.get(accounts.visit.authorizeUrl()));
    await here.browser.post(consent.action, { ...consent.hidden, decision: 'allow' });
    await here.fill('/account/password', { current: password, password: next });
    expect(titleOf(await there.get('/account'))).toBe('Your account');
    const page = await here.fill('/account/password', { current: next, password, everywhere: 'yes' });
    expect(page.body).toContain('you were signed out everywhere else');
    expect(titleOf(await there.get('/account'))).toBe('Sign in');
    expect((await here.get('/account/applications')).body).toContain('No application can act for you.');
  });

  test('stays unchanged after an error, which the page shows', async () => {
    const { person, account } = await accounts.signedIn();
    const page = await account.get('/account/password');
    for (const [fields, words] of [
      [{ current: 'something else', password: next }, 'This is not your password.'],
      [{ current: '', password: next }, 'Enter your password.'],
      [{ current: password, password: 'short' }, 'Choose a password of at least 10 characters.'],
      [{ current: password, password: '1234567890' }, 'This password is easy to guess.'],
    ] as const) {
      const { status, body } = await account.send(page, fields);
      expect([status, body.includes(words)], words).toEqual([422, true]);
    }
    await signInToAccount(accounts.site, person);
  });

  test('cannot be guessed from an open browser, and guessing locks nobody else out', async () => {
    const { person, account } = await accounts.signedIn();
    const page = await account.get('/account/password');
    const guess = () => account.send(page, { current: 'a wrong password', password: next });
    for (let times = 1; times <= 10; times += 1) expect((await guess()).status).toBe(422);
    expect((await guess()).status).toBe(429);
    expect(await accounts.visit.eventOf('session.sign_in_failed', person.userId)).toMatchObject({
      data: { attempts: 10 },
    });
    expect((await openOwnAccount(accounts.site).fill('/account', credentialsOf(person))).status).not.toBe(
      429,
    );
  });

  test('cannot be tried without limit with new ones that are refused', async () => {
    const { account } = await accounts.signedIn();
    const page = await account.get('/account/password');
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 30)
      statuses.push((await account.send(page, { current: password, password: 'short' })).status);
    expect([statuses.at(0), statuses.at(-1)]).toEqual([422, 429]);
  });
});

describe('applications', () => {
  test('are listed with their scopes, and end with their tokens', async () => {
    const { person, account } = await accounts.signedIn();
    const consent = await account.browser.follow(
      await account.browser.get(
        accounts.visit.authorizeUrl({ scope: 'openid offline_access write:comments', prompt: 'consent' }),
      ),
    );
    await account.browser.post(consent.action, { ...consent.hidden, decision: 'allow' });
    const page = await account.get('/account/applications');
    expect(page.body).toContain('<h2>Reading List</h2>');
    expect(page.body).toContain('Write, change and delete comments of yours');
    expect(page.body).not.toContain('your account</h2>');
    const ended = await account.fill('/account/applications', {});
    expect(ended.body).toContain('The application can no longer act for you.');
    expect(ended.body).toContain('No application can act for you.');
    expect(await accounts.visit.eventOf('grant.revoked', person.userId)).toMatchObject({
      data: { clientId: 'reading-list' },
      metadata: { actor: `user:${person.userId}` },
    });
    const { rows } = await accounts.site.pool.query(`select from auth.revoked where kind = 'grant'`);
    expect(rows).not.toHaveLength(0);
  });

  test('of other people are not ended', async () => {
    const [one, other] = [await accounts.signedIn(), await accounts.signedIn()];
    for (const { account } of [one, other]) {
      const consent = await account.browser.follow(await account.browser.get(accounts.visit.authorizeUrl()));
      await account.browser.post(consent.action, { ...consent.hidden, decision: 'allow' });
    }
    await one.account.fill('/account/applications', { client: 'reading-list' });
    expect((await one.account.get('/account/applications')).body).not.toContain('Reading List');
    expect((await other.account.get('/account/applications')).body).toContain('Reading List');
  });
});

describe('sessions', () => {
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
  const SAFARI =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1';

  test('are listed with browser and network, and one or all others can be ended', async () => {
    const person = await accounts.aPerson();
    const here = await signInToAccount(accounts.site, person, FIREFOX);
    const phone = await signInToAccount(accounts.site, person, SAFARI);
    const third = await signInToAccount(accounts.site, person);
    const page = await here.get('/account/sessions');
    expect(page.body).toContain('<h2>Firefox on Linux (this one)</h2>');
    expect(page.body).toContain('<h2>Safari on iPhone</h2>');
    expect(page.body).toMatch(/from (2001:db8:[0-9a-f]+:x|127\.0\.0\.x)/);
    const uid =
      /name="session" value="([^"]+)" aria-label="Sign out Safari on iPhone/.exec(page.body)?.[1] ?? '';
    const ended = await here.browser.follow(await here.send(page, { session: uid }));
    expect(ended.body).toContain('The session has ended, with the console in that browser.');
    expect(titleOf(await phone.get('/account'))).toBe('Sign in');
    expect(titleOf(await third.get('/account'))).toBe('Your account');
    const consent = await here.browser.follow(await here.browser.get(accounts.visit.authorizeUrl()));
    await here.browser.post(consent.action, { ...consent.hidden, decision: 'allow' });
    await here.fill('/account/sessions', { session: 'others' });
    expect(titleOf(await third.get('/account'))).toBe('Sign in');
    expect((await here.get('/account/applications')).body).toContain('Reading List');
    const fourth = await signInToAccount(accounts.site, person);
    const all = await here.fill('/account/sessions', { session: 'others', access: 'yes' });
    expect(all.body).toContain('the access of applications, and the console in this browser');
    expect(titleOf(await fourth.get('/account'))).toBe('Sign in');
    expect((await here.get('/account/applications')).body).toContain('No application can act for you.');
    expect(titleOf(await here.get('/account'))).toBe('Your account');
    expect(await accounts.visit.eventOf('session.signed_out', person.userId)).toMatchObject({
      metadata: { actor: `user:${person.userId}` },
    });
  });

  test('of other people are neither shown nor ended', async () => {
    const one = await accounts.signedIn({ agent: FIREFOX });
    const other = await accounts.signedIn({ agent: SAFARI });
    const page = await one.account.get('/account/sessions');
    expect(page.body).not.toContain('Safari');
    const { rows } = await accounts.site.pool.query<{ count: number }>(
      `select count(*)::integer as count from auth.record where kind = 'Session' and ended_at is null and account_id = $1`,
      [String(other.person.userId)],
    );
    expect(rows[0]?.count).toBe(1);
    const theirs = await until(
      () => accounts.visit.eventOf('session.signed_in', other.person.userId),
      Boolean,
    );
    await one.account.send(page, { session: String(theirs?.stream).slice('session-'.length) });
    expect(titleOf(await other.account.get('/account'))).toBe('Your account');
  });

  test('store no address, no more of a browser than is shown, and nothing in clear', async () => {
    const { person } = await accounts.signedIn({ agent: FIREFOX });
    const { rows } = await accounts.site.pool.query<{ row: string }>(
      `select record::text || encode(sealed, 'escape') as row from auth.record where account_id = $1`,
      [String(person.userId)],
    );
    for (const { row } of rows) expect(row).not.toMatch(/Firefox|2001:db8/);
  });
});
