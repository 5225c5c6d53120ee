import { openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { PASSWORD, type Person } from '../../testing/http/people.ts';
import { type Authenticator, openAuthenticator, passkeyFormIn } from './authenticator.ts';
import type { Installation } from './installation.ts';
import { type OwnAccount, openOwnAccount } from './own-account.ts';
import type { Twist } from './passkey-visits.ts';

/** A person with a passkey, who is signed in on the pages of their account. */
export type Signer = {
  readonly account: OwnAccount;
  readonly key: Authenticator;
  /** The page of a signature. */
  open(href: string): Promise<Seen>;
  /** Sends the answer of the passkey to what a page asks for. */
  answer(page: Seen, twist?: Twist): Promise<Seen>;
  /** Signs what is asked for at this address. */
  sign(href: string, twist?: Twist): Promise<Seen>;
};

/** Signs in on the pages of an installation, whose name is a host. */
export const accountOf = async (
  installation: Pick<Installation, 'url' | 'fetch'>,
  { email }: Pick<Person, 'email'>,
): Promise<OwnAccount> => {
  const account = openOwnAccount(installation, openHandBrowser(installation.fetch));
  const home = await account.fill('/account', { email, password: PASSWORD });
  if (home.status !== 200) throw new Error(`${email} is not signed in: ${home.body.slice(0, 2_000)}`);
  return account;
};

export const openSigner = async (
  installation: Pick<Installation, 'url' | 'fetch'>,
  person: Pick<Person, 'email'>,
): Promise<Signer> => {
  const account = await accountOf(installation, person);
  const key = openAuthenticator(installation.url);
  const send = (page: Seen, credential: string, more = {}) => {
    const { action, fields } = passkeyFormIn(page.body);
    return account.browser.post(`${installation.url}${action}`, { ...fields, credential, ...more });
  };
  const page = await account.get('/account/passkeys');
  const added = await account.browser.follow(
    await send(page, key.create(passkeyFormIn(page.body).options), { name: 'Key ring' }),
  );
  if (!added.body.includes('The passkey was added.'))
    throw new Error(`no passkey was added: ${added.body.slice(0, 2_000)}`);
  const open: Signer['open'] = async (href) => account.browser.follow(await account.browser.get(href));
  const answer: Signer['answer'] = (shown, twist) =>
    send(shown, key.get(passkeyFormIn(shown.body).options, twist));
  return { account, key, open, answer, sign: async (href, twist) => answer(await open(href), twist) };
};
