import { describe, expect } from 'vitest';
import { giveProofs } from '#shared/row-proofs/give-proofs.ts';
import { anAddress, password, titleOf } from '../../test/engines/account-visit.ts';
import { test as base } from '../../test/engines/accounts-fixture.ts';
import { openAccountsSite } from '../../test/engines/accounts-site.ts';
import { minutesLater, openOwnAccount, signInToAccount } from '../../test/engines/own-account.ts';
import { linkIn } from '../../test/engines/smtp-receiver.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { INVITATIONS } from './invitation-table.ts';

const test = base
  .extend('siteOptions', { scope: 'file' }, { trustProxy: 1, signUp: 'off' })
  .extend('invite', { scope: 'file' }, ({ aPerson, site }) => async (email: string, role = 'author') => {
    const admin = await signInToAccount(site, await aPerson('admin'));
    const page = await admin.fill('/account/invitations', { do: 'invite', email, role });
    return { admin, page };
  })
  .extend(
    'accept',
    { scope: 'file' },
    ({ site }) =>
      async (link: string, fields: Record<string, string> = {}) => {
        const account = openOwnAccount(site);
        const page = await account.browser.get(link);
        return page.status === 200
          ? account.browser.follow(await account.send(page, { name: 'Grace Hopper', password, ...fields }))
          : page;
      },
  );

describe('an invitation', () => {
  test('leads to an account with its role, even if sign-up is closed, and only once', async ({
    accept,
    invite,
    site,
    smtp,
  }) => {
    const email = anAddress();
    const { admin, page } = await invite(email, 'admin');
    expect(page.body).toContain(`${email} is invited. The link is on its way by mail.`);
    const link = linkIn(await smtp.mailTo(email));
    expect((await openHandBrowser().get(link)).body).toContain(
      `You were invited as <strong>${email}</strong>`,
    );
    expect(titleOf(await accept(link))).toBe('Your account is ready');
    expect(await site.auth.persons.byEmail(email)).toMatchObject({ role: 'admin', status: 'active' });
    await signInToAccount(site, { email, password });
    expect((await accept(link)).status).toBe(410);
    expect((await admin.get('/account/invitations')).body).toContain('There are none.');
    const { rows } = await site.pool.query(
      `select email_hash, digest, sealed from auth.invitation where state = 'accepted'`,
    );
    expect(rows).toContainEqual({ email_hash: null, digest: null, sealed: null });
  });

  test('is limited to its address and role', async ({ accept, invite, site, smtp }) => {
    const email = anAddress();
    await invite(email, 'reader');
    await accept(linkIn(await smtp.mailTo(email)), { email: anAddress(), role: 'admin' });
    expect(await site.auth.persons.byEmail(email)).toMatchObject({ role: 'reader' });
  });

  test('accepted in parallel makes one account', async ({ accept, invite, smtp }) => {
    const email = anAddress();
    await invite(email);
    const link = linkIn(await smtp.mailTo(email));
    const pages = await Promise.all(
      ['one', 'two', 'three'].map((word) => accept(link, { name: word, password: `${password} ${word}` })),
    );
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('becomes invalid when it is revoked or replaced', async ({ accept, invite, site, smtp }) => {
    const email = anAddress();
    const { admin } = await invite(email);
    const first = linkIn(await smtp.mailTo(email));
    await admin.fill('/account/invitations', { do: 'invite', email, role: 'reader' });
    expect((await openHandBrowser().get(first)).status).toBe(410);
    const second = linkIn(await smtp.mailTo(email, 1));
    const page = await admin.get('/account/invitations');
    const id = new RegExp(`name="id" value="([^"]+)">\\s*<button[^>]*${email}`).exec(page.body)?.[1] ?? '';
    expect((await admin.browser.follow(await admin.send(page, { do: 'revoke', id }))).body).toContain(
      'The invitation was revoked.',
    );
    expect((await accept(second)).status).toBe(410);
    expect(await site.auth.persons.byEmail(email)).toBeUndefined();
  });

  test('ends after a week', async ({ accept, invite, site, smtp }) => {
    const email = anAddress();
    const { admin } = await invite(email);
    await site.pool.query(
      `update auth.invitation set expires_at = expires_at - interval '7 days' where state = 'open'`,
    );
    await giveProofs({ ...site, tables: [INVITATIONS] });
    expect((await accept(linkIn(await smtp.mailTo(email)))).status).toBe(410);
    expect((await admin.get('/account/invitations')).body).toContain('Expired on');
  });

  test('to an address with an account is refused', async ({ aPerson, invite }) => {
    const { email } = await aPerson();
    const { page } = await invite(email);
    expect([page.status, page.body.includes('This address already has an account.')]).toEqual([409, true]);
  });

  test('shows its link to the inviter if no mail is sent; the database reveals no address', async () => {
    await using without = await openAccountsSite({ signUp: 'off' });
    const email = anAddress();
    await without.addPerson({ email, password, role: 'admin' });
    const admin = await signInToAccount(without, { email, password });
    const guest = anAddress();
    const page = await admin.fill('/account/invitations', { do: 'invite', email: guest, role: 'author' });
    expect((await openHandBrowser().get(linkIn({ text: page.body.replaceAll('<', ' ') }))).body).toContain(
      guest,
    );
    const { rows } = await without.pool.query<{ row: string }>(
      `select invitation::text || encode(sealed, 'escape') as row from auth.invitation`,
    );
    expect(rows.map(({ row }) => row.includes(guest))).toEqual([false]);
  });

  test('needs an administrator with a recent sign-in', async ({ aPerson, site }) => {
    const author = await signInToAccount(site, await aPerson());
    expect((await author.get('/account/invitations')).status).toBe(404);
    expect((await author.get('/account')).body).not.toContain('/account/invitations');
    const admin = await signInToAccount(site, await aPerson('admin'));
    using _ = minutesLater(11);
    expect(titleOf(await admin.get('/account/invitations'))).toBe('Sign in');
  });
});
