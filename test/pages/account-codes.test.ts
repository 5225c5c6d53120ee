import { describe } from 'vitest';
import { password } from '../engines/account-visit.ts';
import { describeInChromium, SIZES } from '../engines/chromium.ts';
import { openCodeApp } from '../engines/second-factor.ts';
import { test as base, eventually } from './account-window.ts';

const test = base
  .extend('pictures', { scope: 'file' }, 'codes')
  .extend('givePassword', ({ site, window: { page, signIn } }) => async (email: string) => {
    await page.goto(`${site.url}/account/security`);
    await signIn(email);
  })
  .extend('signOut', ({ site, window: { page, press } }) => async () => {
    await page.goto(`${site.url}/sign-out`);
    await press('Sign out');
    await eventually(() => page.title()).toBe('You are signed out · Annals');
  });

describeInChromium('codes from an app in Chromium', () => {
  describe.each(SIZES)('on a %s', (size, options) => {
    test.override('device', { size, options });

    test('a user sets them up, signs in with one, and with a recovery code', async ({
      givePassword,
      signOut,
      somebody,
      window: { page, press, look },
    }) => {
      const email = await somebody();
      await givePassword(email);
      await look('Signing in', '01-security-off');
      await page.getByRole('link', { name: 'Set up codes' }).click();
      await look('Codes from an app', '02-set-up');
      const app = openCodeApp(await page.content());
      // The first code is one step behind, and may end on the way.
      app.next();
      await page.getByLabel('Code', { exact: true }).fill('000000');
      await press('Turn it on');
      await look('Not yet: Codes from an app', '03-set-up-wrong');
      await page.getByLabel('Code', { exact: true }).fill(app.next());
      await press('Turn it on');
      await look('Your recovery codes', '04-recovery-codes');
      const [recoveryCode = ''] = await page.locator('.codes li').allTextContents();
      await page.getByRole('link', { name: 'I have saved them' }).click();
      await look('Signing in', '05-security-on');
      await signOut();
      await givePassword(email);
      await look('Enter a code', '06-code');
      await eventually(() => page.evaluate('document.activeElement?.id')).toBe('code');
      await page.getByLabel('Code', { exact: true }).fill(app.next());
      await page.keyboard.press('Enter');
      await look('Signing in', '07-signed-in');
      await signOut();
      await givePassword(email);
      await page.getByText('Cannot use the app?').click();
      await page.getByLabel('Recovery code').fill('0000-0000-0000-0000');
      await press('Sign in with a recovery code');
      await look('Not yet: Enter a code', '08-recovery-code-wrong');
      await page.getByLabel('Recovery code').fill(recoveryCode);
      await press('Sign in with a recovery code');
      await eventually(() => page.getByText('9 left').count()).toBe(1);
      await page.getByRole('link', { name: 'Create new codes' }).click();
      await look('Recovery codes', '09-renew');
      await page.getByRole('link', { name: 'Keep the current codes' }).click();
      await page.getByRole('link', { name: 'Turn codes off' }).click();
      await look('Codes from an app', '10-turn-off');
      await page.getByLabel('Password').fill(password);
      await press('Turn it off');
      await look('Signing in', '11-turned-off');
    });
  });
});
