import { generateKeyPair, SignJWT } from 'jose';
import { expect, test, vi } from 'vitest';
import { isAgent, isPerson, policyOf } from '#shared/policy.ts';
import { audited } from '../../test/toy/audited.ts';
import { departments } from '../../test/toy/departments.ts';
import { letters } from '../../test/toy/letters.ts';
import { createTokenVerifier, isOver } from './access-token.ts';

const [issuer, audience] = ['https://issuer.example', 'https://api.example'];
const { privateKey, publicKey } = await generateKeyPair('ES256');
const { verify } = createTokenVerifier({
  ...{ issuer, audience, policy: policyOf(departments) },
  keys: { has: () => true, find: async () => publicKey } as never,
});
const tokenWith = (claims: object) =>
  new SignJWT({ client_id: 'app', role: 'member', scope: 'read:reports', jti: 'one', ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'one' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('7')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey);

test('a token carries the attributes that rights compare, and no others', async () => {
  const { caller } = await verify(await tokenWith({ attributes: { department: null, shoe: 42 } }), 'one');
  expect(caller.attributes).toEqual({ department: null });
});

test('a token can have the scopes of hundreds of aggregates', async () => {
  const scopes = Array.from({ length: 500 }, (_, index) => `read:kind-${index}`);
  const token = await tokenWith({ scope: scopes.join(' '), attributes: { department: null } });
  expect([...(await verify(token, 'many')).caller.scopes]).toEqual(scopes);
});

test.each([
  ['nothing', {}],
  ['something else', { attributes: { shoe: 42 } }],
])(
  'a token that says %s is not good, so that what is not known of its user is not taken for nothing',
  async (name, claims) => {
    await expect(verify(await tokenWith(claims), name)).rejects.toThrow(
      'The token lacks attributes of its user that rights compare.',
    );
  },
);

test.for<[string, object, 'agent' | 'service' | undefined]>([
  ['a person who has signed in', { auth_time: 1 }, undefined],
  ['a client for which nobody vouches', { auth_time: 1, agent: true }, 'agent'],
  ['a service that acts for itself', {}, 'service'],
  ['an agent on behalf of a user', { act: { sub: 'bot', act: { sub: 'web' } } }, undefined],
])('in a domain that asks, the token is of %s', async ([name, claims, by]) => {
  const confirming = createTokenVerifier({
    ...{ issuer, audience, policy: policyOf(letters) },
    keys: { has: () => true, find: async () => publicKey } as never,
  });
  const token = await tokenWith({ role: 'writer', ...claims });
  const { caller } = await confirming.verify(token, name);
  expect(caller.by).toBe(by);
  expect([isAgent(caller), isPerson(caller)]).toEqual([
    by === 'agent' || 'act' in claims,
    by === undefined && !('act' in claims),
  ]);
});

test('in another domain, nobody asks', async () => {
  const claims = { agent: true, attributes: { department: null } };
  expect((await verify(await tokenWith(claims), 'nobody asks')).caller.by).toBeUndefined();
});

test('the token of an auditor ends with their last day, to the millisecond, and one without a day never began', async () => {
  const auditing = createTokenVerifier({
    ...{ issuer, audience, policy: policyOf(audited) },
    keys: { has: () => true, find: async () => publicKey } as never,
  });
  using _ = { [Symbol.dispose]: () => void vi.useRealTimers() };
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2027-03-31T23:59:00.000Z') });
  const token = await tokenWith({ role: 'auditor', attributes: { auditorUntil: '2027-03-31' } });
  const found = await auditing.verify(token, 'auditor');
  vi.setSystemTime(Date.parse('2027-03-31T23:59:59.999Z'));
  expect([auditing.known('auditor'), isOver(found)]).toEqual([found, false]);
  vi.setSystemTime(Date.parse('2027-04-01T00:00:00.000Z'));
  expect(isOver(found)).toBe(true);
  expect(() => auditing.known('auditor')).toThrow('The access of this auditor has ended.');
  await expect(auditing.verify(token, 'again')).rejects.toThrow('The access of this auditor has ended.');
  const without = await tokenWith({ role: 'auditor', attributes: { auditorUntil: null } });
  await expect(auditing.verify(without, 'without')).rejects.toThrow('The access of this auditor has ended.');
  const clerk = await tokenWith({ role: 'clerk', attributes: { auditorUntil: '2020-01-01' } });
  expect(isOver(await auditing.verify(clerk, 'clerk'))).toBe(false);
});
