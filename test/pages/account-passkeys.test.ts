// Takes minutes, so it starts first.
import { randomUUID } from 'node:crypto';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { password } from '../engines/account-visit.ts';
import { type AccountsSite, openAccountsSite } from '../engines/accounts-site.ts';
import { describeInChromium, launchChromium, picture, SIZES } from '../engines/chromium.ts';
import { type AccountWindow, eventually, openAccountWindow } from './account-window.ts';

/** A device with a sensor, emulated by Chromium. */
const DEVICE = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
} as const;

describeInChromium('passkeys in Chromium', () => {
  let site: AccountsSite;
  let chromium: Browser;
  beforeAll(async () => {
    site = await openAccountsSite({ signUp: 'off', isNamed: true });
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium?.close();
    await site?.[Symbol.asyncDispose]();
  });

  describe.each(SIZES)('on a %s', (size, options) => {
    let window: AccountWindow;
    let page: Page;
    let devices: CDPSession;
    let device: string;
    beforeEach(async () => {
      window = await openAccountWindow({ chromium, options, pictures: `passkeys-${size}` });
      page = window.page;
      devices = await window.context.newCDPSession(page);
      await devices.send('WebAuthn.enable');
      ({ authenticatorId: device } = await devices.send('WebAuthn.addVirtualAuthenticator', {
        options: { ...DEVICE, automaticPresenceSimulation: false },
      }));
    });
    afterEach(async () => {
      await window[Symbol.asyncDispose]();
      expect(window.complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
    });

    const look = (title: string, name: string) => window.look(page, title, name);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    /** Turns touches of the sensor on or off. */
    const touch = (enabled: boolean) =>
      devices.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: device, enabled });
    const verify = (isUserVerified: boolean) =>
      devices.send('WebAuthn.setUserVerified', { authenticatorId: device, isUserVerified });
    const givePassword = async (path: string, email: string) => {
      await page.goto(`${site.url}${path}`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await press('Sign in');
    };
    const signOut = async () => {
      await touch(false);
      await page.goto(`${site.url}/sign-out`);
      await press('Sign out');
      await eventually(() => page.title()).toBe('You are signed out · Annals');
    };
    const somebody = async () => {
      const email = `${randomUUID().slice(0, 8)}@example.com`;
      await site.addPerson({ email, password });
      return email;
    };

    test('a user adds one, signs in with it, renames and removes it', async () => {
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

    test('a passkey is offered in the name field, without a button', async () => {
      await givePassword('/account/passkeys', await somebody());
      await touch(true);
      await press('Add a passkey');
      await eventually(() => page.getByRole('status').textContent()).toContain('The passkey was added.');
      await signOut();
      await touch(true);
      await page.goto(`${site.url}/account/security`);
      await eventually(() => page.getByText('One, last used on').count()).toBe(1);
    });

    test('the password works if the device does not verify the user, and without scripts', async () => {
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
      page = await without.newPage();
      await givePassword('/account/passkeys', email);
      await eventually(() => page.getByText('This browser cannot create a passkey').count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
      await picture(page, `passkeys-${size}-10-without-script`);
      await without.close();
    });
  });
});
