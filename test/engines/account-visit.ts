import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { test as base } from 'vitest';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { type HandBrowser, openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { type AccountsSite, openAccountsSite } from './accounts-site.ts';

export const email = 'ada@example.com';
export const password = 'correct horse battery';
export const anAddress = () => `${randomUUID()}@example.com`;

export const verifier = randomBytes(32).toString('base64url');
export const challenge = createHash('sha256').update(verifier).digest('base64url');

export const titleOf = ({ body }: Seen) => /<title>(.*) · Annals<\/title>/.exec(body)?.[1];

/**
 * For a client on the web, which cannot be mistaken for another program on the person's machine. Nothing
 * listens there.
 */
export const WEB_REDIRECT_URI = 'https://reader.example/callback';

/** An address of its own for each request, so that tests do not use up each other's attempts. */
export const from = (
  address = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`,
) => ({
  'x-forwarded-for': address,
});

type More = Readonly<Record<string, string>>;

/** The steps of a person whom a client has sent here. */
export type AccountVisit = {
  readonly site: AccountsSite;
  authorizeUrl(more?: More): string;
  /** Up to the first page. */
  begin(browser: HandBrowser, more?: More): Promise<Seen>;
  signInWith(browser: HandBrowser, page: Seen, fields: More): Promise<Seen>;
  /** Up to the page after sign-in. */
  signIn(browser: HandBrowser, more?: More): Promise<Seen>;
  /** The events about a user, of one type. */
  eventsOf(type: string, userId: number): Promise<readonly DecodedEvent[]>;
  /** The first of them. */
  eventOf(type: string, userId: number): Promise<DecodedEvent | undefined>;
};

export const openAccountVisit = async (
  options: { readonly isNamed?: boolean } = {},
): Promise<AccountVisit> => {
  const site = await openAccountsSite({ trustProxy: 1, ...options });
  await site.addClient('reading-list');
  await site.addClient('annals-app', { firstParty: true, name: 'Annals App' });
  await site.addClient('web-reader', { redirectUris: [WEB_REDIRECT_URI], name: 'Web Reader' });
  await site.addPerson({ email, password });
  const authorizeUrl: AccountVisit['authorizeUrl'] = (more = {}) => {
    const query = {
      client_id: 'reading-list',
      redirect_uri: `${site.appUrl}/callback`,
      code_challenge: challenge,
      state: 'st',
      ...more,
    };
    return `${site.url}/authorize?${new URLSearchParams(query)}`;
  };
  const begin: AccountVisit['begin'] = async (browser, more) =>
    browser.follow(await browser.get(authorizeUrl(more)));
  const signInWith: AccountVisit['signInWith'] = (browser, page, fields) =>
    browser.post(page.action, { ...page.hidden, ...fields }, from());
  const eventsOf: AccountVisit['eventsOf'] = async (type, userId) => {
    const head = await site.eventLog.head();
    const found: DecodedEvent[] = [];
    for await (const page of site.eventLog.follow(0 as never, new AbortController().signal)) {
      const events = await site.codec.decodeAll(page);
      found.push(
        ...events.filter(
          (event) => event.type === type && (event.data as { userId?: number }).userId === userId,
        ),
      );
      if ((page.at(-1)?.position ?? 0) >= head) break;
    }
    return found;
  };
  return {
    site,
    authorizeUrl,
    begin,
    signInWith,
    signIn: async (browser, more) =>
      browser.follow(await signInWith(browser, await begin(browser, more), { email, password })),
    eventsOf,
    eventOf: async (type, userId) => (await eventsOf(type, userId))[0],
  };
};

/** The fixtures that the rows of a table need. */
export type Visitor = Pick<AccountVisit, 'site' | 'authorizeUrl'> & {
  readonly browser: HandBrowser;
  begin(more?: More, using?: HandBrowser): Promise<Seen>;
  signIn(more?: More, using?: HandBrowser): Promise<Seen>;
};

/**
 * An accounts site for each file, and for each test a new browser. The steps take that browser unless a test
 * names another one.
 */
export const test = base
  .extend('visitOptions', { scope: 'file' }, {} as Parameters<typeof openAccountVisit>[0])
  .extend('visit', { scope: 'file' }, async ({ visitOptions }, { onCleanup }) => {
    const visit = await openAccountVisit(visitOptions);
    onCleanup(() => visit.site[Symbol.asyncDispose]());
    return visit;
  })
  .extend('site', { scope: 'file' }, ({ visit }) => visit.site)
  .extend('authorizeUrl', { scope: 'file' }, ({ visit }) => visit.authorizeUrl)
  .extend('eventOf', { scope: 'file' }, ({ visit }) => visit.eventOf)
  .extend('browser', () => openHandBrowser())
  .extend(
    'begin',
    ({ visit, browser }) =>
      (more: More = {}, using = browser) =>
        visit.begin(using, more),
  )
  .extend(
    'signInWith',
    ({ visit, browser }) =>
      (page: Seen, fields: More, using = browser) =>
        visit.signInWith(using, page, fields),
  )
  .extend(
    'signIn',
    ({ visit, browser }) =>
      (more: More = {}, using = browser) =>
        visit.signIn(using, more),
  );
