// Takes minutes, so it starts first.
// Over 200 lines, because every page is looked at in the one installation that is set up here.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { challenge, password } from '../engines/account-visit.ts';
import { describeInChromium, lookAt, SIZES, sizesOf } from '../engines/chromium.ts';
import { linkIn, startSmtpReceiver } from '../engines/smtp-receiver.ts';
import { test as base, eventually } from './account-window.ts';

const next = 'a wholly new password';

const test = base
  .extend('startMail', { scope: 'file' }, () => startSmtpReceiver)
  .extend('smtp', { scope: 'file' }, async ({ startMail }, { onCleanup }) => {
    const smtp = await startMail();
    onCleanup(() => smtp[Symbol.asyncDispose]());
    return smtp;
  })
  .extend('siteOptions', { scope: 'file' }, ({ smtp }) => ({ smtp, signUp: 'off' as const }))
  .extend(
    'go',
    ({ window: { page } }) =>
      (name: string) =>
        page.getByRole('navigation').getByRole('link', { name }).click(),
  );

describeInChromium('the pages of one’s own account in Chromium', () => {
  describe.each(sizesOf(SIZES, 'desktop'))('on a %s', (size, options) => {
    test.override('device', { size, options });

    test('a user manages their account, from the profile to its end', async ({
      go,
      site,
      somebody,
      window: { page, press, fill, signIn, look },
    }) => {
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

    test('a user sees their applications and sessions, and ends both', async ({
      chromium,
      go,
      site,
      somebody,
      window: { page, press, signIn, look },
    }) => {
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

    test('a user creates a token for a script by keyboard alone, sees it once, and revokes it', async ({
      go,
      site,
      smtp,
      somebody,
      window: { page, press, signIn, look },
    }) => {
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

    test('a new token can be copied if scripts run', async ({
      chromium,
      site,
      somebody,
      window: { press, fill, signIn },
    }) => {
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

    test('a mailed link replaces a forgotten password', async ({
      site,
      smtp,
      somebody,
      window: { page, press, fill, signIn, look },
    }) => {
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

    test('an administrator invites a person, who then has an account', async ({
      chromium,
      site,
      smtp,
      somebody,
      window: { page, press, fill, signIn, look },
    }) => {
      await page.goto(`${site.url}/account/invitations`);
      await signIn(await somebody('admin'));
      await look('Invitations', '19-invitations');
      const email = `${randomUUID().slice(0, 8)}@example.com`;
      await fill({ 'E-mail address': email });
      await page.getByLabel(/^Reader:/).check();
      await press('Invite');
      await look('Invitations', '20-invited');
      const guest = await chromium.newContext({ ...options, javaScriptEnabled: false });
      const invited = await guest.newPage();
      await invited.goto(linkIn(await smtp.mailTo(email)));
      await look('Create your account', '21-invited-guest', invited);
      await fill({ Name: 'Grace Hopper', Password: password }, invited);
      await press('Create account', invited);
      await look('Your account is ready', '22-invited-done', invited);
      await invited.getByRole('link', { name: 'here' }).click();
      await signIn(email, password, invited);
      await eventually(() => invited.title()).toBe('Your account · Annals');
      await guest.close();
    });

    test('a user saves everything about themself by keyboard alone, and reads it on any screen', async ({
      chromium,
      site,
      somebody,
      window: { page, signIn, look },
    }) => {
      const email = await somebody();
      await page.goto(`${site.url}/account`);
      await signIn(email);
      await page.getByRole('link', { name: 'Your data' }).press('Enter');
      await look('Your data', '60-data');
      await page.getByLabel('Password').fill('something else');
      await page.getByRole('button', { name: 'Save as JSON' }).press('Enter');
      await look('Not yet: Your data', '61-data-wrong');
      await page.getByLabel('Password').fill(password);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save as a page to read' }).press('Enter'),
      ]);
      expect(download.suggestedFilename()).toMatch(/^person-\d+-\d{4}-\d\d-\d\d\.html$/);
      const saved = await chromium.newPage(options);
      await saved.setContent(await readFile(await download.path(), 'utf8'));
      expect(await saved.textContent('body')).toContain(email);
      await lookAt(saved, `${size}-62-data-saved`);
      await saved.close();
    });

    test('everything can be done with the keyboard alone', async ({
      site,
      somebody,
      window: { page, signIn },
    }) => {
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
