// Takes minutes, so it starts first.
import { describe, expect } from 'vitest';
import { describeInChromium, picture, SIZES } from '../engines/chromium.ts';
import { test as base, eventually } from './account-window.ts';

/** A device with a sensor, emulated by Chromium. */
const DEVICE = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
} as const;

const test = base
  .extend('siteOptions', { scope: 'file' }, { signUp: 'off', isNamed: true })
  .extend('pictures', { scope: 'file' }, 'passkeys')
  .extend('javaScriptEnabled', { scope: 'file' }, true)
  .extend(
    'isAllowed',
    { scope: 'file' },
    () => (message: string) => message.startsWith('Failed to load resource'),
  )
  .extend('sensor', async ({ window: { context, page } }) => {
    const devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...DEVICE, automaticPresenceSimulation: false },
    });
    return {
      /** Turns touches of the sensor on or off. */
      touch: (enabled: boolean) =>
        devices.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
      verify: (isUserVerified: boolean) =>
        devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    };
  })
  .extend(
    'givePassword',
    ({ sensor: _there, site, window: { page, signIn } }) =>
      async (path: string, email: string, on = page) => {
        await on.goto(`${site.url}${path}`);
        await signIn(email, undefined, on);
      },
  )
  .extend('signOut', ({ sensor: { touch }, site, window: { page, press } }) => async () => {
    await touch(false);
    await page.goto(`${site.url}/sign-out`);
    await press('Sign out');
    await eventually(() => page.title()).toBe('You are signed out · Annals');
  });

describeInChromium('passkeys in Chromium', () => {
  describe.each(SIZES)('on a %s', (size, options) => {
    test.override('device', { size, options });

    test('a user adds one, signs in with it, renames and removes it', async ({
      givePassword,
      sensor: { touch },
      signOut,
      site,
      somebody,
      window: { page, press, look },
    }) => {
      const email = await somebody();
      await givePassword('/account/passkeys', email);
      await look('Passkeys', '01-none');
      await page.getByLabel('Name', { exact: true }).fill('My telephone');
      await touch(true);
      await press('Add a passkey');
      await eventually(() => page.getByRole('status').textContent()).toContain('The passkey was added.');
      await look('Passkeys', '02-added');
      await page.goto(`${site.url}/account/security`);
      await look('Signing in', '03-security');
      await signOut();
      await page.goto(`${site.url}/account/security`);
      await look('Sign in', '04-sign-in');
      await touch(true);
      await press('Sign in with a passkey');
      await eventually(() => page.getByText('One, last used on').count()).toBe(1);
      await page.getByRole('link', { name: 'Manage passkeys' }).click();
      await page.getByText('Rename', { exact: true }).click();
      await page
        .getByLabel('New name of My telephone')
        .fill('The blue one, which is always in the pocket of my coat');
      await look('Passkeys', '05-rename');
      await press('Save the name');
      await look('Passkeys', '06-renamed');
      await page.getByText('Remove', { exact: true }).click();
      await look('Passkeys', '06-remove');
      await page.getByRole('button', { name: 'Remove this passkey: The blue one' }).click();
      await look('Passkeys', '07-removed');
      await signOut();
      await touch(true);
      // The device still has it, and Chromium uses the offer by itself.
      await page.goto(`${site.url}/account/security`);
      await eventually(() => page.getByRole('alert').first().textContent()).toContain(
        'This passkey belongs to no account here.',
      );
      await touch(false);
      await look('Not yet: Sign in', '08-sign-in-removed');
    });

    test('a passkey is offered in the name field, without a button', async ({
      givePassword,
      sensor: { touch },
      signOut,
      site,
      somebody,
      window: { page, press },
    }) => {
      await givePassword('/account/passkeys', await somebody());
      await touch(true);
      await press('Add a passkey');
      await eventually(() => page.getByRole('status').textContent()).toContain('The passkey was added.');
      await signOut();
      await touch(true);
      await page.goto(`${site.url}/account/security`);
      await eventually(() => page.getByText('One, last used on').count()).toBe(1);
    });

    test('the password works if the device does not verify the user, and without scripts', async ({
      chromium,
      givePassword,
      sensor: { touch, verify },
      somebody,
      window: { page, press, look },
    }) => {
      const email = await somebody();
      await givePassword('/account/passkeys', email);
      await verify(false);
      await touch(true);
      await press('Add a passkey');
      await eventually(() => page.getByRole('alert').textContent()).toContain(
        'Nothing was chosen, or it took too long.',
      );
      await look('Passkeys', '09-refused');
      const without = await chromium.newContext({ ...options, javaScriptEnabled: false });
      const other = await without.newPage();
      await givePassword('/account/passkeys', email, other);
      await eventually(() => other.getByText('This browser cannot create a passkey').count()).toBe(1);
      expect(await other.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
      await picture(other, `passkeys-${size}-10-without-script`);
      await without.close();
    });
  });
});
