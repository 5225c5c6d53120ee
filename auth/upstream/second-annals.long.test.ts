import { expect, test } from 'vitest';
import { anAddress, password, titleOf } from '../../test/engines/account-visit.ts';
import { openAccountsSite } from '../../test/engines/accounts-site.ts';
import * as schemas from '../../test/engines/client-settings.ts';
import { by, system } from '../../test/engines/command-side.ts';
import { openOwnAccount } from '../../test/engines/own-account.ts';
import { hop, offerOn } from '../../test/engines/upstream-visit.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';

test('people of one installation sign in to another, which creates their accounts by a rule', async () => {
  await using main = await openAccountsSite({ trustProxy: 1 });
  const clientId = 'other';
  const registered = await main.auth.clients.register(
    {
      clientId,
      settings: schemas.ClientSettings.parse({
        name: 'The other one',
        tokenEndpointAuthMethod: 'client_secret_basic',
        grantTypes: ['authorization_code'],
        // Its port is not known before it starts, and any port of this machine is allowed.
        redirectUris: ['http://127.0.0.1/account/with/main'],
        postLogoutRedirectUris: [],
        scopes: ['openid', 'email', 'profile'],
        defaultScopes: ['openid', 'email', 'profile'],
        firstParty: true,
      }),
    },
    by(system),
  );
  await using other = await openAccountsSite({
    trustProxy: 1,
    upstreams: [
      {
        kind: 'openid',
        name: 'main',
        label: 'Main',
        issuer: main.url,
        clientId,
        clientSecret: (registered as { readonly secret?: string }).secret ?? '',
        scopes: ['openid', 'email', 'profile'],
        email: 'trusted',
        linkByEmail: false,
        accounts: [{ role: 'author', domains: 'any' }],
      },
    ],
  });
  const email = anAddress();
  await main.addPerson({ email, password });
  // Cookies ignore ports, so a person at both needs two hosts; here each has a browser of its own.
  const [browser, browserThere] = [openHandBrowser(), openHandBrowser()];
  const page = await openOwnAccount(other, browser).get('/account');
  const leaving = await browser.get(offerOn(page, 'Main'));
  const there = await hop(browserThere, await browserThere.get(leaving.location ?? ''));
  expect([titleOf(there), new URL(there.url).origin]).toEqual(['Sign in', main.url]);
  const answered = await hop(
    browserThere,
    await browserThere.post(there.action, { ...there.hidden, email, password }),
    (url) => url.startsWith(other.url),
  );
  const end = await hop(browser, await browser.get(answered.location ?? ''));
  expect([titleOf(end), end.body.includes(email), new URL(end.url).origin]).toEqual([
    'Your account',
    true,
    other.url,
  ]);
  // Fresh there means fresh here.
  expect(titleOf(await openOwnAccount(other, browser).get('/account/passkeys'))).toBe('Passkeys');
});
