import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { describeInChromium, SIZES } from '../engines/chromium.ts';
import { CLIENT, startIdentityProvider } from '../engines/identity-provider.ts';
import { test as base, eventually } from './account-window.ts';

const NAMES = { acme: 'Acme', keycloak: 'Company accounts of the Department of Long Names' };

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('provider', { scope: 'file' }, async ({}, { onCleanup }) => {
    const provider = await startIdentityProvider();
    onCleanup(() => provider[Symbol.asyncDispose]());
    return provider;
  })
  .extend('siteOptions', { scope: 'file' }, ({ provider: { issuer } }) => ({
    signUp: 'off' as const,
    upstreams: Object.entries(NAMES).map(([name, label]) => ({
      ...{ kind: 'openid' as const, name, label, issuer, ...CLIENT, scopes: ['openid', 'email', 'profile'] },
      ...{ email: 'verified' as const, linkByEmail: false, accounts: [] },
    })),
  }))
  .extend('pictures', { scope: 'file' }, 'identities')
  .extend('allowed', { scope: 'file' }, ({ site, provider }) =>
    Promise.all(Object.keys(NAMES).map((name) => provider.allow(`${site.url}/account/with/${name}`))),
  );

describeInChromium('accounts at two identity providers in Chromium', () => {
  describe.each(SIZES)('on a %s', (size, options) => {
    test.override('device', { size, options });

    test('a user links one, signs in with it by the keyboard, and unlinks it', async ({
      allowed: _registered,
      provider,
      site,
      somebody,
      window: { context, page, press, signIn, look },
    }) => {
      provider.behaviour.sub = randomUUID();
      await page.goto(`${site.url}/account/identities`);
      await look('Sign in', '01-sign-in');
      await signIn(await somebody());
      await look('Linked accounts', '02-none');
      await press('Link Acme');
      await look('Linked accounts', '03-linked');
      await context.clearCookies();
      await page.goto(`${site.url}/account/identities`);
      const offer = page.getByRole('link', { name: 'Sign in with Acme' });
      for (let presses = 0; presses < 20; presses += 1) {
        if (await offer.evaluate('element => element === document.activeElement')) break;
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
      await look('Linked accounts', '04-signed-in-with-it');
      await page.getByRole('button', { name: 'Unlink' }).click();
      await eventually(() => page.getByText('The account is unlinked').isVisible()).toBe(true);
      await look('Linked accounts', '05-unlinked');
      expect(await page.getByRole('button', { name: 'Unlink' }).count()).toBe(0);
    });
  });
});
