import { describe, expect, test } from 'vitest';
import { titleOf } from '../../test/engines/account-visit.ts';
import {
  openAccountFixture,
  openOwnAccount,
  type Somebody,
  signInToAccount,
} from '../../test/engines/own-account.ts';
import {
  givePassword,
  openCodeApp,
  recoveryCodesIn,
  setUpCodes,
  somebodyWithCodes,
  turnOnCodes,
} from '../../test/engines/second-factor.ts';
import { until } from '../../testing/until.ts';

const accounts = openAccountFixture();

const withCodes = () => somebodyWithCodes(accounts);
const passwordGiven = (person: Pick<Somebody, 'email' | 'password'>) => givePassword(accounts, person);

describe('setting up codes', () => {
  test('takes effect once a code was entered, notifies the owner, and shows ten recovery codes', async () => {
    const { person, account } = await accounts.signedIn();
    const page = await account.get('/account/second-factor');
    expect(page.body).toContain('<svg class="qr" role="img"');
    expect((await passwordGiven(person)).question.status).toBe(303);
    const wrong = await account.send(page, { do: 'turn-on', code: '000000' });
    expect([wrong.status, titleOf(wrong)]).toEqual([422, 'Not yet: Codes from an app']);
    const app = openCodeApp(wrong.body);
    const done = await turnOnCodes(account, wrong, app);
    expect(recoveryCodesIn(done.body)).toHaveLength(10);
    expect((await account.get('/account/security')).body).toContain('10 left');
    expect(await accounts.visit.eventOf('account.second_factor_added', person.userId)).toMatchObject({
      metadata: { actor: `user:${person.userId}` },
    });
    const again = await account.send(wrong, { do: 'turn-on', code: app.next() });
    expect(again.status).toBe(303);
    expect((await account.get('/account/security')).body).toContain('10 left');
  });

  test('ends other sessions, and the current browser continues with full rights under a new secret', async () => {
    const { person, account } = await accounts.signedIn();
    const thief = await signInToAccount(accounts.site, person);
    const before = new Map(account.browser.cookies);
    await setUpCodes(account);
    expect(titleOf(await thief.get('/account'))).toBe('Sign in');
    expect(account.browser.cookies).not.toEqual(before);
    const old = openOwnAccount(accounts.site);
    for (const [name, cookie] of before) old.browser.cookies.set(name, cookie);
    expect(titleOf(await old.get('/account'))).toBe('Sign in');
    for (const path of ['/account/passkeys', '/account/second-factor', '/account/recovery-codes'])
      expect(titleOf(await account.get(path))).not.toBe('Sign in');
  });

  test('leaves no rights that matter to a session opened by the password alone', async () => {
    const { person, account } = await accounts.signedIn();
    const { account: thief, question: underway } = await passwordGiven(person);
    await setUpCodes(account);
    expect(titleOf(await thief.browser.follow(underway))).toBe('Your account');
    for (const path of [
      '/account/passkeys',
      '/account/second-factor',
      '/account/recovery-codes',
      '/account/password',
    ])
      expect(titleOf(await thief.get(path))).toBe('Sign in');
  });

  test('refuses a secret that was shown to somebody else, or long ago', async () => {
    const { account } = await accounts.signedIn();
    const { account: other } = await accounts.signedIn();
    const theirs = await other.get('/account/second-factor');
    const mine = await account.get('/account/second-factor');
    const app = openCodeApp(theirs.body);
    const sent = await account.send(mine, {
      do: 'turn-on',
      ticket: theirs.hidden.ticket ?? '',
      code: app.next(),
    });
    expect(sent.location).toMatch(/\/account\/second-factor$/);
    expect((await account.get('/account/security')).body).toContain('Set up codes');
  });

  test('stores the secret and the recovery codes encrypted or hashed', async () => {
    const { person, app } = await withCodes();
    const { rows } = await accounts.site.pool.query<{ row: string }>(
      `select encode(sealed, 'escape') as row from auth.second_factor where user_id = $1
       union all select encode(digest, 'escape') from auth.recovery_code where user_id = $1`,
      [person.userId],
    );
    expect(rows).toHaveLength(11);
    for (const { row } of rows)
      for (const code of app.recoveryCodes) expect(row).not.toContain(code.replaceAll('-', ''));
  });
});

describe('signing in with codes', () => {
  test('asks for one after the password, and then continues', async () => {
    const { person, app } = await withCodes();
    const { account, question } = await passwordGiven(person);
    expect([question.status, titleOf(question)]).toEqual([200, 'Enter a code']);
    expect((await account.browser.get(`${accounts.site.url}/account`)).location).toContain('/authorize?');
    const home = await account.browser.follow(await account.send(question, { code: ` ${app.next()} ` }));
    expect(titleOf(home)).toBe('Your account');
    await until(
      () => accounts.visit.eventsOf('session.signed_in', person.userId),
      (events) => events.some(({ data }) => (data as { method?: string }).method === 'password_and_code'),
    );
  });

  test('reports a wrong password without asking for a code', async () => {
    const { person } = await withCodes();
    const { question } = await passwordGiven({ ...person, password: 'something else' });
    expect([question.status, titleOf(question)]).toEqual([422, 'Not yet: Sign in']);
  });

  test('accepts each code once, also in parallel, and none from before', async () => {
    const { person, app } = await withCodes();
    const earlier = app.next();
    const code = app.next();
    const visits = await Promise.all(Array.from({ length: 4 }, () => passwordGiven(person)));
    const answers = await Promise.all(
      visits.map(({ account, question }) => account.send(question, { code })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422, 422, 422]);
    const { account, question } = await passwordGiven(person);
    for (const used of [code, earlier]) {
      const again = await account.send(question, { code: used });
      expect([again.status, again.body.includes('This code is wrong, expired or already used.')]).toEqual([
        422,
        true,
      ]);
    }
  });

  test('accepts each recovery code once, and says how many are left', async () => {
    const { person, account: here, app } = await withCodes();
    const [first = '', second = ''] = app.recoveryCodes;
    const { account, question } = await passwordGiven(person);
    const home = await account.browser.follow(
      await account.send(question, { recovery: first.toUpperCase().replaceAll('-', ' ') }),
    );
    expect(titleOf(home)).toBe('Your account');
    expect(await accounts.visit.eventOf('account.recovery_code_used', person.userId)).toMatchObject({
      data: { left: 9 },
    });
    const next = await passwordGiven(person);
    expect((await next.account.send(next.question, { recovery: first })).status).toBe(422);
    const renewed = await here.fill('/account/recovery-codes', {});
    expect(recoveryCodesIn(renewed.body)).toHaveLength(10);
    expect((await next.account.send(next.question, { recovery: second })).status).toBe(422);
    const [fresh = ''] = recoveryCodesIn(renewed.body);
    expect((await next.account.send(next.question, { recovery: fresh })).status).toBe(303);
  });

  test('warns of few recovery codes', async () => {
    const { person, account } = await withCodes();
    await accounts.site.pool.query(
      'delete from auth.recovery_code where user_id = $1 and digest not in (select digest from auth.recovery_code where user_id = $1 limit 2)',
      [person.userId],
    );
    expect((await account.get('/account/security')).body).toContain('<strong>Only 2 left:</strong>');
  });

  test('prevents guessing: after ten wrong codes one has to wait, even after giving the password again', async () => {
    const { person, app } = await withCodes();
    const { account, question } = await passwordGiven(person);
    const guess = (fields: Record<string, string>) => account.send(question, fields);
    for (let times = 1; times <= 10; times += 1) expect((await guess({ code: '000000' })).status).toBe(422);
    const waiting = await guess({ code: app.next() });
    expect([waiting.status, Number(waiting.headers.get('retry-after')) > 60]).toEqual([429, true]);
    const again = await passwordGiven(person);
    expect((await again.account.send(again.question, { code: app.next() })).status).toBe(429);
    expect(await accounts.visit.eventOf('session.sign_in_failed', person.userId)).toMatchObject({
      data: { attempts: 10 },
    });
  });

  test('lets the owner in with a recovery code, whatever an attacker with the password guesses', async () => {
    const { person, app } = await withCodes();
    const { account, question } = await passwordGiven(person);
    for (let times = 1; times <= 11; times += 1) {
      await account.send(question, { code: '000000' });
      expect((await account.send(question, { recovery: '0000-0000-0000-0000' })).status).toBe(422);
    }
    const owner = await passwordGiven(person);
    expect((await owner.account.send(owner.question, { recovery: app.recoveryCodes[0] ?? '' })).status).toBe(
      303,
    );
  });
});
