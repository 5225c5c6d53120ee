// Over 200 lines, because every case uses the one authorization server that is set up here.

import { describe, expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { giveProofs } from '#shared/row-proofs/give-proofs.ts';
import { anAddress, from, password, titleOf } from '../../test/engines/account-visit.ts';
import { test as base } from '../../test/engines/accounts-fixture.ts';
import { type AccountsSite, openAccountsSite } from '../../test/engines/accounts-site.ts';
import { as, by } from '../../test/engines/command-side.ts';
import { openOwnAccount, type Somebody, signInToAccount } from '../../test/engines/own-account.ts';
import { setUpCodes } from '../../test/engines/second-factor.ts';
import { linkIn } from '../../test/engines/smtp-receiver.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import { RESETS } from './reset-table.ts';

const test = base
  .extend('siteOptions', { scope: 'file' }, { trustProxy: 1, signUp: 'off' })
  .extend(
    'typesIn',
    { scope: 'file' },
    ({ site }) =>
      async (stream: StreamName) =>
        (await Array.fromAsync(site.eventLog.read(stream))).flat().map(({ type }) => type),
  )
  .extend('ask', { scope: 'file' }, ({ site }) => async (email: string, address?: string) => {
    const account = openOwnAccount(site);
    return account.browser.follow(
      await account.send(await account.get('/account/reset'), { email }, from(address)),
    );
  })
  .extend('linkFor', { scope: 'file' }, ({ ask, smtp }) => async (email: string, after?: number) => {
    await ask(email);
    return linkIn(await smtp.mailTo(email, after));
  })
  .extend('choose', { scope: 'file' }, ({ site }) => async (link: string, chosen = next) => {
    const account = openOwnAccount(site);
    const page = await account.browser.get(link);
    return page.status === 200
      ? account.browser.follow(await account.send(page, { password: chosen }))
      : page;
  });

const next = 'a wholly new password';

describe('a forgotten password', () => {
  test('is replaced by a link, once, which ends all sessions', async ({
    aPerson,
    choose,
    linkFor,
    site,
    smtp,
  }) => {
    const person = await aPerson();
    const account = await signInToAccount(site, person);
    const link = await linkFor(person.email);
    expect(titleOf(await choose(link))).toBe('Your password was changed');
    expect(titleOf(await account.get('/account'))).toBe('Sign in');
    expect((await choose(link, 'another new password')).status).toBe(410);
    await signInToAccount(site, { ...person, password: next });
    const told = await smtp.mailTo(person.email, 1);
    expect(told.subject).toBe('Your password was changed');
    expect(told.text).toContain(
      `Your passkeys and the codes from your app did not change. Check them: ${site.url}/account/security`,
    );
  });

  test('gets the same answer for an unknown address, to which nothing is sent', async ({
    aPerson,
    ask,
    smtp,
  }) => {
    const person = await aPerson();
    const nobody = anAddress();
    const answers = [await ask(nobody), await ask(person.email)];
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
    await smtp.mailTo(person.email);
    expect(smtp.messages.filter(({ to }) => to.includes(nobody))).toEqual([]);
  });

  test('does not replace the second factor', async ({ aPerson, choose, linkFor, site, smtp }) => {
    const person = await aPerson();
    const app = await setUpCodes(await signInToAccount(site, person));
    expect((await smtp.mailTo(person.email)).subject).toBe('Your sign-in methods were changed');
    await choose(await linkFor(person.email, 1));
    const account = openOwnAccount(site);
    const question = await account.send(await account.get('/account'), {
      email: person.email,
      password: next,
    });
    expect([question.status, titleOf(question)]).toEqual([200, 'Enter a code']);
    expect(titleOf(await account.browser.follow(await account.send(question, { code: app.next() })))).toBe(
      'Your account',
    );
  });

  test('removes what somebody else has added to an account that its owner never confirmed', async ({
    choose,
    linkFor,
    site,
    typesIn,
  }) => {
    const email = anAddress();
    const userId = await site.addPerson({ email, password, isConfirmed: false });
    const thief = await signInToAccount(site, { email, password });
    // This was possible before it required a confirmed account.
    await site.pool.query('update auth.person set confirmed_at = now() where user_id = $1', [userId]);
    await setUpCodes(thief);
    await site.pool.query('update auth.person set confirmed_at = null where user_id = $1', [userId]);
    const { id: webhookId } = await site.gateway.send(
      { type: 'RegisterWebhook', ...WEBHOOK_FORM },
      by(as(userId)),
    );
    await site.pool.query(
      `insert into auth.passkey (id, user_id, credential_hash, sealed, counter) values ('theirs', $1, 'x', 'x', 0)`,
      [userId],
    );
    await choose(await linkFor(email, 1));
    expect(titleOf(await thief.get('/account'))).toBe('Sign in');
    const owner = await signInToAccount(site, { email, password: next });
    for (const table of ['passkey', 'second_factor', 'recovery_code'])
      expect(
        (await site.pool.query(`select from auth.${table} where user_id = $1`, [userId])).rowCount,
        table,
      ).toBe(0);
    await until(
      () => typesIn(streamName('webhook', webhookId)),
      (types) => types.at(-1) === 'webhook.deleted',
    );
    await setUpCodes(owner);
    const { id: ownId } = await site.gateway.send(
      { type: 'RegisterWebhook', ...WEBHOOK_FORM },
      by(as(userId)),
    );
    await choose(await linkFor(email, 4), 'yet another password');
    const question = await openOwnAccount(site).fill('/account', { email, password: 'yet another password' });
    expect(titleOf(question)).toBe('Enter a code');
    expect(await typesIn(streamName('webhook', ownId))).toEqual(['webhook.registered']);
    expect(await typesIn(streamName('account', userId))).toContain('account.reclaimed');
  });

  test('sends to the account’s own address, however it was typed', async ({ aPerson, ask, smtp }) => {
    const person = await aPerson();
    await ask(` ${person.email.toUpperCase()} `);
    expect((await smtp.mailTo(person.email)).to).toEqual([person.email]);
  });

  test('gives a password to a person without one', async ({ choose, linkFor, site }) => {
    const email = anAddress();
    await site.addPerson({ email });
    await choose(await linkFor(email));
    await signInToAccount(site, { email, password: next });
  });

  test('is reset by one of several parallel uses of the link', async ({ aPerson, choose, linkFor }) => {
    const { email } = await aPerson();
    const link = await linkFor(email);
    const pages = await Promise.all(Array.from({ length: 4 }, () => choose(link)));
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 410, 410, 410]);
  });

  type Fixtures = {
    readonly site: AccountsSite;
    readonly linkFor: (email: string, after?: number) => Promise<string>;
    readonly choose: (link: string) => Promise<unknown>;
  };
  test.for<[string, (fixtures: Fixtures, person: Somebody) => Promise<void>]>([
    [
      'half an hour',
      async ({ site }) => {
        await site.pool.query(
          `update auth.password_reset set expires_at = expires_at - interval '30 minutes'`,
        );
        await giveProofs({ ...site, tables: [RESETS] });
      },
    ],
    [
      'another one was used',
      async ({ choose, linkFor }, { email }) => void (await choose(await linkFor(email, 1))),
    ],
    [
      'the password was changed',
      async ({ site }, person) =>
        void (await (
          await signInToAccount(site, person)
        ).fill('/account/password', { current: password, password: next })),
    ],
    [
      'the address was changed',
      async ({ site }, person) =>
        void (await (
          await signInToAccount(site, person)
        ).fill('/account/profile', { name: 'Ada', email: anAddress() })),
    ],
    [
      'the account was deleted',
      async ({ site }, { userId }) => {
        await site.deletePerson(userId);
        await until(
          () => site.auth.persons.byId(userId),
          (person) => person?.status === 'deleted',
        );
      },
    ],
  ])('cannot be replaced by a link after %s', async ([_what, happen], { aPerson, choose, linkFor, site }) => {
    const person = await aPerson();
    const link = await linkFor(person.email);
    await happen({ site, linkFor, choose }, person);
    const page = await openHandBrowser().get(link);
    expect([page.status, titleOf(page)]).toEqual([410, 'This link is no longer valid']);
  });

  test('needs a valid link and a form of this browser', async ({ aPerson, choose, linkFor, site }) => {
    const { email } = await aPerson();
    const link = await linkFor(email);
    const weak = await choose(link, '1234567890');
    expect([weak.status, weak.body.includes('This password is easy to guess.')]).toEqual([422, true]);
    const page = await openHandBrowser().get(link);
    expect((await openHandBrowser().post(page.action, { ...page.hidden, password: next })).status).toBe(403);
    expect((await choose(`${site.url}/account/reset/password?link=nothing`)).status).toBe(410);
    expect((await choose(link)).status).toBe(200);
  });

  test('is stored as a digest only', async ({ aPerson, linkFor, site }) => {
    const { email } = await aPerson();
    const link = new URL(await linkFor(email)).searchParams.get('link') ?? 'none';
    const { rows } = await site.pool.query<{ row: string }>(
      'select password_reset::text as row from auth.password_reset',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain(link);
  });

  test('can be requested five times, whether or not there is such an account, and then not for a while', async ({
    aPerson,
    ask,
  }) => {
    for (const email of [(await aPerson()).email, anAddress()]) {
      const statuses: number[] = [];
      for (let times = 1; times <= 6; times += 1)
        statuses.push((await ask(email, `192.0.2.${times}`)).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    }
  });

  test('needs an administrator if no mail is sent', async () => {
    await using without = await openAccountsSite();
    const page = await openOwnAccount(without).get('/account/reset');
    expect(page.body).toContain('Ask an administrator for a link');
    expect(page.body).not.toContain('<form');
  });
});
