import { afterAll, beforeAll, vi } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { type HandBrowser, openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { type AccountVisit, anAddress, from, openAccountVisit, password, titleOf } from './account-visit.ts';
import type { AccountsSite } from './accounts-site.ts';

type Person = { readonly email: string; readonly password: string };
export type Somebody = Person & { readonly userId: UserId };
type Fields = Readonly<Record<string, string>>;

/** A person on the pages of their own account. */
export type OwnAccount = {
  readonly browser: HandBrowser;
  get(path: string): Promise<Seen>;
  /** Fills in the first form of a page, and returns the result. */
  fill(path: string, fields: Fields): Promise<Seen>;
  /** Sends a form that was fetched before. */
  send(page: Seen, fields: Fields, headers?: Fields): Promise<Seen>;
};

/** A browser that visits an account page, up to the sign-in page. */
export const openOwnAccount = (
  { url }: Pick<AccountsSite, 'url'>,
  browser: HandBrowser = openHandBrowser(),
): OwnAccount => {
  const get: OwnAccount['get'] = async (path) => browser.follow(await browser.get(`${url}${path}`));
  const send: OwnAccount['send'] = (page, fields, headers = from()) =>
    browser.post(page.action, { ...page.hidden, ...fields }, headers);
  return {
    browser,
    get,
    send,
    fill: async (path, fields) => browser.follow(await send(await get(path), fields)),
  };
};

/** Signs in on the account page itself. */
export const signInToAccount = async (
  site: Pick<AccountsSite, 'url'>,
  person: Person,
  agent = '',
): Promise<OwnAccount> => {
  const fetchAs: typeof fetch = (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...(init?.headers as Fields), ...(agent !== '' && { 'user-agent': agent }) },
    });
  const account = openOwnAccount(site, openHandBrowser(fetchAs));
  const home = await account.fill('/account', credentialsOf(person));
  if (titleOf(home) !== 'Your account')
    throw new Error(`nobody is signed in at ${home.url} (${home.status}): ${home.body.slice(0, 2_000)}`);
  return account;
};

/** A site for the tests of one file, and its people. */
export type AccountFixture = {
  readonly visit: AccountVisit;
  readonly site: AccountsSite;
  aPerson(role?: Role): Promise<Somebody>;
  /** A new person, signed in on their account page. */
  signedIn(options?: {
    readonly agent?: string;
    readonly role?: Role;
  }): Promise<{ person: Somebody; account: OwnAccount }>;
};

/** Opened before the tests of the file, and closed after them. */
export const openAccountFixture = (options?: { readonly isNamed?: boolean }): AccountFixture => {
  let visit: AccountVisit | undefined;
  beforeAll(async () => {
    visit = await openAccountVisit(options);
  });
  afterAll(() => visit?.site[Symbol.asyncDispose]());
  const demand = () => {
    if (visit === undefined) throw new Error('the site is not open yet');
    return visit;
  };
  const aPerson: AccountFixture['aPerson'] = (role) => somebodyAt(demand().site, role);
  return {
    get visit() {
      return demand();
    },
    get site() {
      return demand().site;
    },
    aPerson,
    async signedIn({ agent, role } = {}) {
      const person = await aPerson(role);
      return { person, account: await signInToAccount(demand().site, person, agent) };
    },
  };
};

/** A new person, who can sign in. */
export const somebodyAt = async (
  site: Pick<AccountsSite, 'addPerson'>,
  role: Role = 'author',
): Promise<Somebody> => {
  const email = anAddress();
  return { email, password, userId: await site.addPerson({ email, password, role }) };
};

export const credentialsOf = (person: Person): Fields => ({ email: person.email, password: person.password });

/** Moves the clock forward, until it is disposed. */
export const minutesLater = (minutes: number): Disposable => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
  return { [Symbol.dispose]: () => void vi.useRealTimers() };
};
