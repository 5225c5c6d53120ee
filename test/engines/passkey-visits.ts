import { expect } from 'vitest';
import type { Seen } from '../../testing/http/browser-by-hand.ts';
import { from } from './account-visit.ts';
import { type Authenticator, openAuthenticator, passkeyFormIn } from './authenticator.ts';
import { type AccountFixture, type OwnAccount, openOwnAccount, type Somebody } from './own-account.ts';

export type Twist = Parameters<Authenticator['get']>[1];

/** Actions of people with passkeys at a site, and of attackers. */
type PasskeyVisits = {
  /** Sends the answer of an authenticator like the script. */
  send(account: OwnAccount, page: Seen, credential: string, more?: Record<string, string>): Promise<Seen>;
  register(account: OwnAccount, key: Authenticator, twist?: Twist): Promise<Seen>;
  /** A new person, signed in, with a passkey. */
  withPasskey(
    options?: Parameters<typeof openAuthenticator>[1],
  ): Promise<{ person: Somebody; account: OwnAccount; key: Authenticator }>;
  /** Up to the answer to the signature. */
  signInBy(key: Authenticator, twist?: Twist): Promise<{ account: OwnAccount; answer: Seen }>;
};

export const passkeyVisits = (accounts: Pick<AccountFixture, 'site' | 'signedIn'>): PasskeyVisits => {
  const send: PasskeyVisits['send'] = (account, page, credential, more = {}) => {
    const { action, fields } = passkeyFormIn(page.body);
    return account.browser.post(`${accounts.site.url}${action}`, { ...fields, credential, ...more }, from());
  };
  const register: PasskeyVisits['register'] = async (account, key, twist) => {
    const page = await account.get('/account/passkeys');
    return send(account, page, key.create(passkeyFormIn(page.body).options, twist), { name: 'Key ring' });
  };
  return {
    send,
    register,
    async withPasskey(options) {
      const { person, account } = await accounts.signedIn();
      const key = openAuthenticator(accounts.site.url, options);
      const added = await account.browser.follow(await register(account, key));
      expect(added.body).toContain('The passkey was added.');
      return { person, account, key };
    },
    async signInBy(key, twist) {
      const account = openOwnAccount(accounts.site);
      const page = await account.get('/account');
      return { account, answer: await send(account, page, key.get(passkeyFormIn(page.body).options, twist)) };
    },
  };
};
