import { describe, expect } from 'vitest';
import { anAddress, from, password, titleOf } from '../../test/engines/account-visit.ts';
import { test as base } from '../../test/engines/accounts-fixture.ts';
import { openOwnAccount, signInToAccount, somebodyAt } from '../../test/engines/own-account.ts';
import { linkIn } from '../../test/engines/smtp-receiver.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';

const test = base
  .extend('siteOptions', { scope: 'file' }, { trustProxy: 1 })
  .extend(
    'ask',
    { scope: 'file' },
    ({ site }) =>
      async (email: string, chosen = password, address?: string) => {
        const visitor = openOwnAccount(site);
        const page = await visitor.get('/sign-up');
        const answered = await visitor.send(page, { name: 'Ada', email, password: chosen }, from(address));
        return { answered, page: await visitor.browser.follow(answered) };
      },
  )
  .extend('confirm', { scope: 'file' }, ({ site }) => async (link: string, typed = password) => {
    const visitor = openOwnAccount(site);
    const page = await visitor.browser.get(link);
    return page.status === 200 ? visitor.browser.follow(await visitor.send(page, { password: typed })) : page;
  });

describe('a sign-up with mail', () => {
  test('makes the account once the link is opened and the password typed again; the link works once', async ({
    ask,
    confirm,
    site,
    smtp,
  }) => {
    const email = anAddress();
    expect(titleOf((await ask(email)).page)).toBe('Check your mail');
    expect(await site.auth.persons.byEmail(email)).toBeUndefined();
    const link = linkIn(await smtp.mailTo(email));
    expect(titleOf(await confirm(link))).toBe('Your account is ready');
    await signInToAccount(site, { email, password });
    expect((await confirm(link)).status).toBe(410);
  });

  test('gives the same answer for an address that has an account, and notifies its owner by mail', async ({
    ask,
    site,
    smtp,
  }) => {
    const [owner, nobody] = [await somebodyAt(site), anAddress()];
    const [known, unknown] = [
      await ask(owner.email.toUpperCase(), 'another password altogether'),
      await ask(nobody),
    ];
    const seen = ({ answered, page }: typeof known) => [
      answered.status,
      answered.location,
      page.status,
      page.body,
    ];
    expect(seen(known)).toEqual(seen(unknown));
    const told = await smtp.mailTo(owner.email);
    expect(told.subject).toBe('You already have an account');
    expect(told.text).toContain(`${site.url}/account/reset`);
    await signInToAccount(site, owner);
  });

  test('with somebody else’s address cannot be confirmed: the reader of the mail does not know the password', async ({
    ask,
    confirm,
    site,
    smtp,
  }) => {
    const email = anAddress();
    await ask(email, 'chosen by a stranger');
    const link = linkIn(await smtp.mailTo(email));
    const page = await confirm(link, 'guessed by the owner');
    expect([page.status, titleOf(page)]).toEqual([422, 'Not yet: Confirm your address']);
    expect(await site.auth.persons.byEmail(email)).toBeUndefined();
    await ask(email);
    expect(titleOf(await confirm(linkIn(await smtp.mailTo(email, 1))))).toBe('Your account is ready');
    expect((await confirm(link, 'chosen by a stranger')).status).toBe(409);
    expect((await openHandBrowser().get(`${site.url}/sign-up/confirm?link=nothing`)).status).toBe(410);
  });

  test('can be requested five times for one address, whether or not it has an account, and then not for a while', async ({
    ask,
    site,
  }) => {
    for (const email of [(await somebodyAt(site)).email, anAddress()]) {
      const statuses: number[] = [];
      for (let times = 1; times <= 6; times += 1)
        statuses.push((await ask(email, password, `192.0.2.${times}`)).page.status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    }
  });

  test('with a refused password counts against the client’s address, but not against the typed one', async ({
    ask,
    site,
  }) => {
    const [visitor, email, place] = [openOwnAccount(site), anAddress(), '192.0.2.77'];
    const page = await visitor.get('/sign-up');
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 40)
      statuses.push(
        (await visitor.send(page, { name: 'Ada', email, password: 'short' }, from(place))).status,
      );
    expect([statuses.at(0), statuses.at(-1)]).toEqual([422, 429]);
    expect((await ask(email, password, '192.0.2.78')).page.status).toBe(200);
  });

  test('leaves nothing readable in the database', async ({ ask, site, smtp }) => {
    const email = anAddress();
    await ask(email);
    const link = new URL(linkIn(await smtp.mailTo(email))).searchParams.get('link') ?? 'none';
    const { rows } = await site.pool.query<{ row: string }>(
      'select t::text as row from auth.pending_sign_up t',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows)
      for (const secret of [link, email, password]) expect(row).not.toContain(secret);
  });
});
