// Takes minutes, so it starts first.
// Over 200 lines, because every page is looked at in the one installation that is set up here.
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { challenge, password } from '../engines/account-visit.ts';
import { type AccountsSite, openAccountsSite } from '../engines/accounts-site.ts';
import { describeInChromium, launchChromium, SIZES } from '../engines/chromium.ts';
import { linkIn, type SmtpReceiver, startSmtpReceiver } from '../engines/smtp-receiver.ts';
import { type AccountWindow, eventually, openAccountWindow } from './account-window.ts';

const next = 'a wholly new password';

describeInChromium('the pages of one’s own account in Chromium', () => {
  let smtp: SmtpReceiver;
  let site: AccountsSite;
  let chromium: Browser;
  beforeAll(async () => {
    smtp = await startSmtpReceiver();
    site = await openAccountsSite({ smtp, signUp: 'off' });
    await site.addClient('reading-list');
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium?.close();
    await site?.[Symbol.asyncDispose]();
    await smtp?.[Symbol.asyncDispose]();
  });

  describe.each(SIZES)('on a %s', (size, options) => {
    let window: AccountWindow;
    let page: Page;
    beforeEach(async () => {
      // Everything works without scripts, so there are none.
      window = await openAccountWindow({
        chromium,
        options: { ...options, javaScriptEnabled: false },
        pictures: `account-${size}`,
      });
      page = window.page;
    });
    afterEach(async () => {
      expect(window.complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
      await window[Symbol.asyncDispose]();
    });

    const look = (title: string, name: string) => window.look(page, title, name);
    const fill = async (fields: Record<string, string>, on = page) => {
      for (const [label, text] of Object.entries(fields))
        await on.getByLabel(label, { exact: true }).fill(text);
    };
    const press = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click();
    const go = (name: string) => page.getByRole('navigation').getByRole('link', { name }).click();
    const signIn = async (email: string, typed = password, on = page) => {
      await fill({ 'E-mail address': email, Password: typed }, on);
      await press('Sign in', on);
    };
    const somebody = async (role: 'author' | 'admin' = 'author') => {
      const email = `${randomUUID().slice(0, 8)}@example.com`;
      await site.addPerson({ email, password, role });
      return email;
    };

    test('a user manages their account, from the profile to its end', async () => {
      const email = await somebody();
      await page.goto(`${site.url}/account`);
      await signIn(email);
      await look('Your account', '01-home');
      await go('Profile');
      await look('Profile', '02-profile');
      await fill({ Name: 'Augusta Ada King, Countess of Lovelace', 'E-mail address': 'ada' });
      await press('Save');
      await look('Not yet: Profile', '03-profile-wrong');
      await fill({ 'E-mail address': email });
      await press('Save');
      await look('Profile', '04-profile-saved');
      await go('Signing in');
      await look('Signing in', '05-security');
      await page.getByRole('link', { name: 'Change the password' }).click();
      await fill({ 'Current password': 'something else', 'New password': next });
      await press('Change the password');
      await look('Not yet: Change the password', '06-password-wrong');
      await fill({ 'Current password': password, 'New password': next });
      await press('Change the password');
      await look('Signing in', '07-password-changed');
      await page.getByRole('link', { name: 'Account', exact: true }).click();
      await page.getByRole('link', { name: 'Delete the account' }).click();
      await look('Delete the account', '08-delete');
      await fill({ 'Type “delete my account”': 'delete my account', Password: next });
      await press('Delete the account permanently');
      await eventually(() => page.title()).toMatch(/^Your account is (being )?deleted/);
      await look(await page.title().then((title) => title.replace(' · Annals', '')), '09-erased');
      await page.goto(`${site.url}/account`);
      await eventually(() => page.title()).toBe('Sign in · Annals');
    });

    test('a user sees their applications and sessions, and ends both', async () => {
      const email = await somebody();
      const scope = 'openid profile offline_access read:articles write:articles write:comments';
      const query = {
        client_id: 'reading-list',
        redirect_uri: `${site.appUrl}/callback`,
        code_challenge: challenge,
        scope,
        prompt: 'consent',
      };
      await page.goto(`${site.url}/authorize?${new URLSearchParams(query)}`);
      await signIn(email);
      await press('Allow');
      await eventually(() => page.url()).toContain('/callback?code=');
      const elsewhere = await chromium.newContext({ javaScriptEnabled: false });
      const other = await elsewhere.newPage();
      await other.goto(`${site.url}/account`);
      await signIn(email, password, other);
      await eventually(() => other.title()).toBe('Your account · Annals');
      await page.goto(`${site.url}/account/applications`);
      await look('Applications', '10-applications');
      await press('End the access of Reading List');
      await look('Applications', '11-application-ended');
      await go('Sessions');
      await look('Sessions', '12-sessions');
      await press('Sign out everywhere else');
      await look('Sessions', '13-sessions-ended');
      await other.reload();
      await eventually(() => other.title()).toBe('Sign in · Annals');
      await elsewhere.close();
    });

    test('a user creates a token for a script by keyboard alone, sees it once, and revokes it', async () => {
      const email = await somebody();
      await page.goto(`${site.url}/account`);
      await signIn(email);
      await go('Access tokens');
      await look('Access tokens', '30-tokens-none');
      await press('Create the token');
      await look('Not yet: Access tokens', '31-tokens-wrong');
      await page.getByLabel('Name', { exact: true }).focus();
      await page.keyboard.type('Nightly import');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      await page.keyboard.press('Enter');
      await look('Access tokens', '32-token-made');
      const shown = page.locator('#new-token');
      expect(await shown.textContent()).toMatch(/^annals_pat_[0-9A-Za-z]{49}$/);
      const { text } = await smtp.mailTo(email);
      expect(text).toContain('Nightly import');
      expect(text).not.toContain('annals_pat_');
      await page.goto(`${site.url}/account/tokens`);
      await look('Access tokens', '33-tokens');
      expect(await shown.count()).toBe(0);
      await page.getByRole('button', { name: 'Revoke the token Nightly import' }).press('Enter');
      await look('Access tokens', '34-token-revoked');
      expect(await page.getByRole('heading', { name: 'Nightly import' }).count()).toBe(0);
    });

    test('a new token can be copied if scripts run', async () => {
      const context = await chromium.newContext({
        ...options,
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      const scripted = await context.newPage();
      await scripted.goto(`${site.url}/account/tokens`);
      await signIn(await somebody(), password, scripted);
      await fill({ Name: 'Nightly import' }, scripted);
      await scripted.getByRole('checkbox').first().check();
      await press('Create the token', scripted);
      await press('Copy the token', scripted);
      await eventually(() => scripted.getByRole('button', { name: 'Copied' }).count()).toBe(1);
      expect(await scripted.evaluate('navigator.clipboard.readText()')).toBe(
        await scripted.locator('#new-token').textContent(),
      );
      await context.close();
    });

    test('a mailed link replaces a forgotten password', async () => {
      const email = await somebody();
      await page.goto(`${site.url}/account`);
      await page.getByRole('link', { name: 'Forgotten your password?' }).click();
      await look('Reset your password', '14-reset');
      await fill({ 'E-mail address': email });
      await press('Send the link');
      await look('Check your mail', '15-reset-asked');
      const link = linkIn(await smtp.mailTo(email));
      await page.goto(link);
      await look('Choose a new password', '16-reset-choose');
      await fill({ 'New password': next });
      await press('Change the password');
      await look('Your password was changed', '17-reset-done');
      await page.goto(link);
      await look('This link is no longer valid', '18-reset-over');
      await page.goto(`${site.url}/account`);
      await signIn(email, next);
      await eventually(() => page.title()).toBe('Your account · Annals');
    });

    test('an administrator invites a person, who then has an account', async () => {
      await page.goto(`${site.url}/account/invitations`);
      await signIn(await somebody('admin'));
      await look('Invitations', '19-invitations');
      const email = `${randomUUID().slice(0, 8)}@example.com`;
      await fill({ 'E-mail address': email });
      await page.getByLabel(/^Reader:/).check();
      await press('Invite');
      await look('Invitations', '20-invited');
      const guest = await chromium.newContext({ ...options, javaScriptEnabled: false });
      page = await guest.newPage();
      await page.goto(linkIn(await smtp.mailTo(email)));
      await look('Create your account', '21-invited-guest');
      await fill({ Name: 'Grace Hopper', Password: password });
      await press('Create account');
      await look('Your account is ready', '22-invited-done');
      await page.getByRole('link', { name: 'here' }).click();
      await signIn(email);
      await eventually(() => page.title()).toBe('Your account · Annals');
      await guest.close();
    });

    test('everything can be done with the keyboard alone', async () => {
      const email = await somebody();
      await page.goto(`${site.url}/account/profile`);
      await signIn(email);
      await eventually(() => page.title()).toBe('Profile · Annals');
      const focused = () =>
        page.evaluate('document.activeElement?.id || document.activeElement?.textContent');
      await eventually(focused).toBe('name');
      await page.keyboard.type('Ada');
      await page.keyboard.press('Enter');
      await eventually(() => page.getByRole('status').textContent()).toBe('Your profile is saved.');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Skip to the content');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Account');
    });
  });
});
