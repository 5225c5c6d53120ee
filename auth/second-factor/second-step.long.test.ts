import { describe, expect, test } from 'vitest';
import { from, password, titleOf } from '../../test/engines/account-visit.ts';
import {
  credentialsOf,
  minutesLater,
  openAccountFixture,
  openOwnAccount,
  type Somebody,
} from '../../test/engines/own-account.ts';
import { givePassword, somebodyWithCodes } from '../../test/engines/second-factor.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';

const accounts = openAccountFixture();
const withCodes = () => somebodyWithCodes(accounts);
const passwordGiven = (person: Pick<Somebody, 'email' | 'password'>) => givePassword(accounts, person);

describe('the second step', () => {
  test('belongs to the sign-in in which the password was given', async () => {
    const { person, app } = await withCodes();
    const { question } = await passwordGiven(person);
    const thief = openOwnAccount(accounts.site);
    const signIn = await thief.get('/account');
    const uid = new URL(signIn.url).pathname.split('/')[2];
    const action = `${accounts.site.url}/sign-in/${uid}/second-factor`;
    const stolen = await thief.browser.post(
      action,
      { ticket: question.hidden.ticket ?? '', code: app.next() },
      from(),
    );
    expect([stolen.status, titleOf(stolen)]).toEqual([400, 'This took too long']);
    const none = await thief.browser.post(action, { ticket: 'x'.repeat(200), code: app.next() }, from());
    expect(none.status).toBe(400);
    const elsewhere = await openHandBrowser().post(
      question.action,
      { ...question.hidden, code: app.next() },
      from(),
    );
    expect(elsewhere.status).toBe(400);
  });

  test('needs the password, and refuses a form of another site', async () => {
    const { person, app } = await withCodes();
    const { account, question } = await passwordGiven(person);
    expect((await account.browser.get(question.action)).location).toMatch(/\/sign-in\/[\w-]+$/);
    const forged = await account.send(
      question,
      { code: app.next() },
      { ...from(), 'sec-fetch-site': 'cross-site' },
    );
    expect(forged.status).toBe(403);
  });

  test('expires after ten minutes, and when the password changes', async () => {
    const { person, account: here, app } = await withCodes();
    const { account, question } = await passwordGiven(person);
    {
      using _ = minutesLater(11);
      expect((await account.send(question, { code: app.next() })).status).toBe(400);
    }
    await here.fill('/account/password', { current: password, password: 'a wholly new password' });
    expect((await account.send(question, { code: app.next() })).status).toBe(400);
  });
});

describe('a sign-in that waits for a code', () => {
  test('can be cancelled even after it has expired', async () => {
    const { person } = await withCodes();
    const { account, question } = await passwordGiven(person);
    using _ = minutesLater(11);
    const cancelled = await account.browser.follow(await account.send(question, { cancel: 'yes' }));
    expect(titleOf(cancelled)).toBe('You are not signed in');
  });

  test('starts again if codes were turned off meanwhile', async () => {
    const { person, account: here } = await withCodes();
    const { account, question } = await passwordGiven(person);
    await here.send(await here.get('/account/second-factor'), { do: 'turn-off', password });
    const over = await account.send(question, { code: '000000' });
    expect([over.status, titleOf(over)]).toEqual([400, 'This took too long']);
    expect(
      (await account.send(await account.get(`${new URL(question.action).pathname}`), credentialsOf(person)))
        .status,
    ).toBe(303);
  });
});

describe('codes', () => {
  test('are turned off with the password, which is enough from then on', async () => {
    const { person, account } = await withCodes();
    const page = await account.get('/account/second-factor');
    const refused = await account.send(page, { do: 'turn-off', password: 'something else' });
    expect([refused.status, refused.body.includes('This is not your password.')]).toEqual([422, true]);
    expect((await passwordGiven(person)).question.status).toBe(200);
    const done = await account.browser.follow(await account.send(page, { do: 'turn-off', password }));
    expect(done.body).toContain('Codes are turned off');
    expect((await passwordGiven(person)).question.status).toBe(303);
    expect(await accounts.visit.eventOf('account.second_factor_removed', person.userId)).toBeDefined();
  });

  test('cannot be changed without a recent sign-in', async () => {
    const { person, account, app } = await withCodes();
    using _ = minutesLater(11);
    for (const path of ['/account/second-factor', '/account/recovery-codes']) {
      const signIn = await account.get(path);
      expect(titleOf(signIn)).toBe('Sign in');
      const question = await account.send(signIn, credentialsOf(person));
      expect(titleOf(question)).toBe('Enter a code');
    }
    expect(app.recoveryCodes).toHaveLength(10);
  });

  test('are erased with the person', async () => {
    const { person } = await withCodes();
    await accounts.site.deletePerson(person.userId);
    const count = async () => {
      const { rows } = await accounts.site.pool.query<{ count: number }>(
        `select ((select count(*) from auth.second_factor where user_id = $1) + (select count(*) from auth.recovery_code where user_id = $1))::integer as count`,
        [person.userId],
      );
      return rows[0]?.count;
    };
    await until(count, (left) => left === 0);
  });
});
