import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { from } from '../../test/engines/account-visit.ts';
import { openAuthenticator, passkeyFormIn } from '../../test/engines/authenticator.ts';
import { minutesLater, openAccountFixture, openOwnAccount } from '../../test/engines/own-account.ts';
import { passkeyVisits, type Twist } from '../../test/engines/passkey-visits.ts';

const accounts = openAccountFixture({ isNamed: true });
const { send, register, withPasskey, signInBy } = passkeyVisits(accounts);

describe('an attack on the registration of a passkey', () => {
  test.each<[string, Twist]>([
    ['one for another origin', { origin: 'https://evil.example' }],
    ['one for another name', { rpId: 'evil.example' }],
    ['one for another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['a signature of a sign-in', { type: 'webauthn.get' }],
    ['one by whom nobody has verified', { flags: 0x01 }],
  ])('%s is refused', async (_what, twist) => {
    const { account } = await accounts.signedIn();
    const answer = await register(account, openAuthenticator(accounts.site.url), twist);
    expect([answer.status, answer.body.includes('This passkey could not be added')]).toEqual([422, true]);
    expect((await account.get('/account/security')).body).toContain('Add a passkey');
  });

  test('by replay, with somebody else’s challenge, too late, or without a passkey is refused', async () => {
    const { account } = await accounts.signedIn();
    const { account: other } = await accounts.signedIn();
    const key = openAuthenticator(accounts.site.url);
    const page = await account.get('/account/passkeys');
    const { options, fields } = passkeyFormIn(page.body);
    const theirs = await other.get('/account/passkeys');
    const stolen = await send(other, theirs, key.create(options), { name: 'x', ticket: fields.ticket ?? '' });
    expect(stolen.status).toBe(422);
    const credential = key.create(options);
    expect((await send(account, page, credential, { name: 'x' })).status).toBe(303);
    expect((await send(account, page, credential, { name: 'x' })).status).toBe(422);
    // Somebody has registered it already.
    expect((await register(other, key)).status).toBe(422);
    for (const nothing of ['', '{}', 'null', '{"id":"AA"}', credential.slice(0, 100)])
      expect(
        (await send(account, await account.get('/account/passkeys'), nothing, { name: 'x' })).status,
        nothing,
      ).toBe(422);
    const late = await account.get('/account/passkeys');
    const made = openAuthenticator(accounts.site.url).create(passkeyFormIn(late.body).options);
    using _ = minutesLater(6);
    expect((await send(account, late, made, { name: 'x' })).status).toBe(422);
  });

  test('by a form of another site or without its token changes nothing', async () => {
    const { account } = await accounts.signedIn();
    const page = await account.get('/account/passkeys');
    const { action, fields, options } = passkeyFormIn(page.body);
    const form = { ...fields, name: 'x', credential: openAuthenticator(accounts.site.url).create(options) };
    const post = (sent: Record<string, string>, headers = {}) =>
      account.browser.post(`${accounts.site.url}${action}`, sent, { ...from(), ...headers });
    expect((await post(form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post({ ...form, token: 'x'.repeat(43) })).status).toBe(403);
    expect((await post(form)).status).toBe(303);
  });
});

describe('an attack on the sign-in by a signature', () => {
  test.each<[string, Twist]>([
    ['of another origin', { origin: 'https://evil.example' }],
    ['for another name', { rpId: 'evil.example' }],
    ['over another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['without verification of the person', { flags: 0x01 }],
    ['by another key', { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }],
    ['in the name of somebody else', { userHandle: Buffer.alloc(32, 7).toString('base64url') }],
    ['that makes a passkey', { type: 'webauthn.create' }],
  ])('a signature %s signs nobody in', async (_what, twist) => {
    const { key } = await withPasskey();
    const { account, answer } = await signInBy(key, twist);
    expect([answer.status, answer.body.includes('This passkey belongs to no account here.')]).toEqual([
      422,
      true,
    ]);
    expect((await account.browser.get(`${accounts.site.url}/account`)).location).toContain('/authorize?');
  });

  test('that replays it, in the same sign-in or another, is refused', async () => {
    const { key } = await withPasskey();
    const account = openOwnAccount(accounts.site);
    const page = await account.get('/account');
    const credential = key.get(passkeyFormIn(page.body).options);
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(account, page, credential)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    const thief = openOwnAccount(accounts.site);
    const theirs = await thief.get('/account');
    const { ticket = '' } = passkeyFormIn(page.body).fields;
    for (const more of [{}, { ticket }])
      expect((await send(thief, theirs, credential, more)).status).toBe(422);
  });

  test('a signature is valid as long as its page may be open; a page that is too late offers passkeys again', async () => {
    const { key } = await withPasskey();
    const account = openOwnAccount(accounts.site);
    const page = await account.get('/account');
    {
      using _ = minutesLater(55);
      expect((await send(account, page, '{}')).body).toContain('This passkey belongs to no account here.');
    }
    const used = await send(account, page, key.get(passkeyFormIn(page.body).options));
    expect([used.status, used.body.includes('This took too long.')]).toEqual([422, true]);
    expect(used.body).toContain('data-passkey="offer"');
    expect((await send(account, used, key.get(passkeyFormIn(used.body).options))).status).toBe(303);
  });

  test('by a copied passkey, whose counter is behind, is refused and recorded', async () => {
    const { person, key } = await withPasskey();
    expect((await signInBy(key)).answer.status).toBe(303);
    expect((await signInBy(key, { counter: 1 })).answer.status).toBe(422);
    expect(await accounts.visit.eventOf('account.passkey_refused', person.userId)).toMatchObject({
      metadata: { actor: 'anonymous' },
    });
    expect((await signInBy(key)).answer.status).toBe(303);
  });

  test('an authenticator without a counter works every time', async () => {
    const { key } = await withPasskey({ counts: false });
    for (let times = 0; times < 2; times += 1) expect((await signInBy(key)).answer.status).toBe(303);
  });

  test('is counted by address like passwords', async () => {
    const account = openOwnAccount(accounts.site);
    const page = await account.get('/account');
    const { action, fields } = passkeyFormIn(page.body);
    const guess = () =>
      account.browser.post(
        `${accounts.site.url}${action}`,
        { ...fields, credential: '{}' },
        from('203.0.113.7'),
      );
    for (let times = 1; times <= 50; times += 1) expect((await guess()).status).toBe(422);
    expect((await guess()).status).toBe(429);
  });
});
