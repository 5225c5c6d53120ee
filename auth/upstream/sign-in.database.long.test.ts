// Over 200 lines, because it is one subject: sign-in with one identity provider.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { anAddress, challenge, titleOf } from '../../test/engines/account-visit.ts';
import { type AccountsSite, openAccountsSite } from '../../test/engines/accounts-site.ts';
import {
  CLIENT,
  type IdentityProvider,
  startIdentityProvider,
} from '../../test/engines/identity-provider.ts';
import {
  credentialsOf,
  type OwnAccount,
  openOwnAccount,
  signInToAccount,
  somebodyAt,
} from '../../test/engines/own-account.ts';
import { beginLink, hop, offerOn, signInBy as signInAt } from '../../test/engines/upstream-visit.ts';
import { type HandBrowser, openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';

let provider: IdentityProvider;
let site: AccountsSite;

beforeAll(async () => {
  provider = await startIdentityProvider();
  const common = {
    kind: 'openid' as const,
    issuer: provider.issuer,
    ...CLIENT,
    scopes: ['openid', 'email', 'profile'],
  };
  site = await openAccountsSite({
    trustProxy: 1,
    upstreams: [
      {
        ...common,
        name: 'acme',
        label: 'Acme',
        email: 'verified',
        linkByEmail: false,
        accounts: [
          { role: 'reader', claim: { name: 'groups', value: 'readers' } },
          { role: 'author', domains: ['staff.example'] },
        ],
      },
      { ...common, name: 'linking', label: 'Linking', email: 'verified', linkByEmail: true, accounts: [] },
    ],
  });
  for (const name of ['acme', 'linking']) await provider.allow(`${site.url}/account/with/${name}`);
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

beforeEach(() => {
  Object.assign(provider.behaviour, {
    sub: randomUUID(),
    email: anAddress(),
    isVerified: true,
    groups: [],
    signedInAtS: undefined,
    cancels: false,
    isDown: false,
    isSplit: false,
  });
});

/** From a page of the account by the provider, to where that ends. */
const signInBy = (label = 'Acme') => signInAt(site, label);

/** The answer of the provider, which the browser has not brought here yet. */
const answerFor = async (browser: HandBrowser, label = 'Acme') => {
  const page = await openOwnAccount(site, browser).get('/account');
  const seen = await hop(browser, await browser.get(offerOn(page, label)), (url) =>
    url.includes('/account/with/'),
  );
  return seen.location ?? '';
};

const linkedBy = async (account: OwnAccount) => hop(account.browser, await beginLink(account, 'acme'));

const aMember = async () => {
  const person = await somebodyAt(site);
  const account = await signInToAccount(site, person);
  expect((await linkedBy(account)).body).toContain('The account is linked.');
  return { person, account };
};

const eventsOf = async (userId: UserId): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const page of site.eventLog.read(`account-${userId}` as never))
    types.push(...page.map(({ type, data }) => `${type} ${(data as { by?: string }).by ?? ''}`.trim()));
  return types;
};

describe('a linked account', () => {
  test('signs in, is recorded, and can be unlinked', async () => {
    const { person, account } = await aMember();
    const { end } = await signInBy();
    expect([titleOf(end), end.body.includes(person.email)]).toEqual(['Your account', true]);
    const page = await account.get('/account/identities');
    expect(page.body).toContain(provider.behaviour.email);
    const done = await account.browser.follow(await account.send(page, { do: 'unlink' }));
    expect(done.body).toContain('is unlinked');
    expect((await signInBy()).end.body).toContain('is linked to no account here');
    expect(await eventsOf(person.userId)).toEqual([
      'account.identity_linked user',
      'account.identity_unlinked',
    ]);
  });

  test('cannot be linked to a second person', async () => {
    await aMember();
    const other = await signInToAccount(site, await somebodyAt(site));
    const refused = await linkedBy(other);
    expect([refused.status, refused.body.includes('is linked to another account here')]).toEqual([409, true]);
  });

  test('does not open a deactivated account', async () => {
    const { person } = await aMember();
    await site.pool.query('update auth.person set deactivated_at = now() where user_id = $1', [
      person.userId,
    ]);
    const { end } = await signInBy();
    expect([end.status, end.body.includes('This account is deactivated')]).toEqual([403, true]);
  });

  test('is erased with the person', async () => {
    const { person } = await aMember();
    await site.deletePerson(person.userId);
    await until(
      async () =>
        (await site.pool.query('select from auth.upstream_identity where user_id = $1', [person.userId]))
          .rowCount,
      (count) => count === 0,
    );
  });

  test('of another row opens nothing, even with access to the database', async () => {
    const { person } = await aMember();
    const victim = await site.addPerson({ email: anAddress(), role: 'admin' });
    await site.pool.query('update auth.upstream_identity set user_id = $2 where user_id = $1', [
      person.userId,
      victim,
    ]);
    expect(titleOf((await signInBy()).end)).not.toBe('Your account');
  });
});

describe('linking', () => {
  test('needs a form of the page: a link of a stranger starts nothing', async () => {
    const account = await signInToAccount(site, await somebodyAt(site));
    const forged = await account.browser.post(`${site.url}/account/identities`, {
      do: 'link',
      upstream: 'acme',
    });
    expect(forged.status).toBe(400);
    const victim = await signInToAccount(site, await somebodyAt(site));
    const answer = await hop(account.browser, await beginLink(account, 'acme'), (url) =>
      url.includes('/account/with/'),
    );
    const planted = await victim.browser.follow(await victim.browser.get(answer.location ?? ''));
    expect([planted.status, planted.body.includes('took too long, or was already used')]).toEqual([
      422,
      true,
    ]);
  });

  test('needs a recent sign-in', async () => {
    const person = await somebodyAt(site);
    const account = await signInToAccount(site, person);
    await site.pool.query(`update auth.record set ended_at = now() where account_id = $1`, [
      String(person.userId),
    ]);
    expect(titleOf(await account.get('/account/identities'))).toBe('Sign in');
  });
});

describe('an account by the rules', () => {
  test('is created once, with the role of the first rule that matches', async () => {
    Object.assign(provider.behaviour, { email: `${randomUUID()}@Staff.example`, groups: ['readers'] });
    const first = await signInBy();
    const second = await signInBy();
    expect([titleOf(first.end), titleOf(second.end)]).toEqual(['Your account', 'Your account']);
    const person = await site.auth.persons.byEmail(provider.behaviour.email);
    expect(person?.role).toBe('reader');
    expect(await eventsOf(person?.userId as UserId)).toEqual(['account.identity_linked creation']);
  });

  test('is one, if two answers arrive at once', async () => {
    provider.behaviour.email = `${randomUUID()}@staff.example`;
    const browsers = [openHandBrowser(), openHandBrowser()];
    const answers: (readonly [HandBrowser, string])[] = [];
    for (const browser of browsers) answers.push([browser, await answerFor(browser)]);
    await Promise.all(answers.map(async ([browser, url]) => browser.follow(await browser.get(url))));
    expect(titleOf((await signInBy()).end)).toBe('Your account');
    const person = await site.auth.persons.byEmail(provider.behaviour.email);
    const { rowCount } = await site.pool.query('select from auth.upstream_identity where user_id = $1', [
      person?.userId,
    ]);
    expect(rowCount).toBe(1);
  });

  test('is completed by the next sign-in, if a process stops between the account and its link', async () => {
    provider.behaviour.email = `${randomUUID()}@staff.example`;
    await site.pool.query(`create function auth.stop_here() returns trigger language plpgsql as $$begin raise exception 'stopped'; end$$;
      create trigger stop_here before update on auth.upstream_identity for each row execute function auth.stop_here()`);
    expect((await signInBy()).end.status).toBe(500);
    await site.pool.query('drop function auth.stop_here cascade');
    expect(titleOf((await signInBy()).end)).toBe('Your account');
    const person = await site.auth.persons.byEmail(provider.behaviour.email);
    expect(await eventsOf(person?.userId as UserId)).toEqual(['account.identity_linked creation']);
  });

  test('may be due to a claim that userinfo alone has', async () => {
    provider.behaviour.isSplit = true;
    await provider.rotateKeys();
    Object.assign(provider.behaviour, { email: `${randomUUID()}@elsewhere.example`, groups: ['readers'] });
    expect(titleOf((await signInBy()).end)).toBe('Your account');
    provider.behaviour.isSplit = false;
    await provider.rotateKeys();
  });

  test.each([
    ['without a rule', { email: 'ada@example.org' }, 'gets none by the rules of this site'],
    ['with an unverified address', { email: 'x@staff.example', isVerified: false }, 'gets none by the rules'],
  ])('is refused %s', async (_case, behaviour, sentence) => {
    Object.assign(provider.behaviour, behaviour);
    const { end } = await signInBy();
    expect([end.status, end.body.includes(sentence)]).toEqual([403, true]);
  });

  test('is refused for the address of an account that exists, unless the settings trust it', async () => {
    const person = await somebodyAt(site);
    provider.behaviour.email = person.email;
    const refused = (await signInBy()).end;
    expect([refused.status, refused.body.includes('already has the address')]).toEqual([409, true]);
    expect(titleOf((await signInBy('Linking')).end)).toBe('Your account');
    expect(await eventsOf(person.userId)).toEqual(['account.identity_linked email']);
  });

  test('is not linked by address to an administrator, or to an address that nobody has confirmed', async () => {
    for (const more of [{ role: 'admin' }, { isConfirmed: false }]) {
      provider.behaviour.email = anAddress();
      await site.addPerson({ email: provider.behaviour.email, password: 'a long password', ...more });
      expect((await signInBy('Linking')).end.status).toBe(409);
    }
  });
});

describe('an answer', () => {
  test('counts once, in the browser that asked for it', async () => {
    await aMember();
    const browser = openHandBrowser();
    const url = await answerFor(browser);
    const stolen = await openHandBrowser().get(url);
    expect((await openHandBrowser().get(stolen.location ?? '')).status).toBe(400);
    const opened = await hop(browser, await browser.get(url));
    expect(titleOf(opened)).toBe('Your account');
    expect((await browser.follow(await browser.get(url))).status).toBe(400);
  });

  test('that was cancelled there leads to the sign-in page, with a sentence', async () => {
    provider.behaviour.cancels = true;
    const { end } = await signInBy();
    expect([end.status, end.body.includes('You were not signed in at Acme.')]).toEqual([422, true]);
  });

  test.each([
    ['the issuer of another provider', (url: URL) => url.searchParams.set('iss', 'https://other.example')],
    ['no issuer', (url: URL) => url.searchParams.delete('iss')],
    ['another code', (url: URL) => url.searchParams.set('code', 'x')],
  ])('with %s is refused', async (_what, change) => {
    await aMember();
    const browser = openHandBrowser();
    const url = new URL(await answerFor(browser));
    change(url);
    const end = await hop(browser, await browser.get(url.href));
    expect([end.status, end.body.includes('could not be verified')]).toEqual([422, true]);
  });

  test('at the address of another provider is refused', async () => {
    await aMember();
    const browser = openHandBrowser();
    const url = (await answerFor(browser)).replace('/with/acme', '/with/linking');
    const end = await hop(browser, await browser.get(url));
    expect([end.status, end.body.includes('took too long, or was already used')]).toEqual([422, true]);
  });

  test('without a state of ours is refused', async () => {
    const seen = await openHandBrowser().get(`${site.url}/account/with/acme?code=x&state=y`);
    expect([seen.status, titleOf(seen)]).toEqual([400, 'This sign-in was not started here']);
  });
});

describe('a provider', () => {
  test('that is down leaves the other ways to sign in', async () => {
    await aMember();
    const browser = openHandBrowser();
    const url = await answerFor(browser);
    provider.behaviour.isDown = true;
    const end = await hop(browser, await browser.get(url));
    expect([end.status, end.body.includes('cannot be reached just now')]).toEqual([503, true]);
    expect(end.body).toContain('name="password"');
  });

  test('may change its keys between two sign-ins', async () => {
    await aMember();
    expect(titleOf((await signInBy()).end)).toBe('Your account');
    await provider.rotateKeys();
    expect(titleOf((await signInBy()).end)).toBe('Your account');
  });
});

describe('a page that needs a recent sign-in', () => {
  const minutesAgo = (minutes: number) => Math.floor(Date.now() / 1_000) - minutes * 60;

  test('takes a new one there, and none that was long ago', async () => {
    const { person } = await aMember();
    const { browser } = await signInBy();
    const account = openOwnAccount(site, browser);
    expect(titleOf(await account.get('/account/delete'))).toBe('Delete the account');
    provider.behaviour.signedInAtS = minutesAgo(30);
    const late = await signInBy();
    const page = await openOwnAccount(site, late.browser).get('/account/delete');
    expect(titleOf(page)).toBe('Sign in');
    const refused = await hop(late.browser, await late.browser.get(offerOn(page, 'Acme')));
    expect([
      refused.status,
      refused.body.includes('did not show that you have signed in there just now'),
    ]).toEqual([403, true]);
    provider.behaviour.signedInAtS = undefined;
    const again = await hop(late.browser, await late.browser.get(offerOn(page, 'Acme')));
    expect(titleOf(again)).toBe('Delete the account');
    expect(person.userId).toBeGreaterThan(0);
  });

  test('deletes the account of a person without a password after a new sign-in', async () => {
    provider.behaviour.email = `${randomUUID()}@staff.example`;
    const { browser } = await signInBy();
    const account = openOwnAccount(site, browser);
    const form = await account.get('/account/delete');
    expect(form.body).not.toContain('type="password"');
    const only = await account.get('/account/identities');
    const kept = await account.send(only, {
      do: 'unlink',
      id: /name="id" value="([^"]*)"/.exec(only.body)?.[1] ?? '',
    });
    expect([kept.status, kept.body.includes('This is your only way to sign in')]).toEqual([409, true]);
    const gone = await account.send(form, { confirmation: 'delete my account' });
    expect(gone.location).toContain('/account/erased');
    expect(titleOf((await signInBy()).end)).toBe('Your account');
  });
});

test('the page offers the providers by links, also to an application', async () => {
  await site.addClient('reading-list');
  const browser = openHandBrowser();
  const query = {
    client_id: 'reading-list',
    redirect_uri: `${site.appUrl}/callback`,
    code_challenge: challenge,
    state: 'st',
  };
  const page = await hop(browser, await browser.get(`${site.url}/authorize?${new URLSearchParams(query)}`));
  expect(offerOn(page, 'Acme')).toMatch(/\/sign-in\/[\w-]+\/with\/acme$/);
  const person = await somebodyAt(site);
  expect((await browser.post(page.action, { ...page.hidden, ...credentialsOf(person) })).status).toBe(303);
});
