import { generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { isAgent, isPerson, policyOf } from '#shared/policy.ts';
import { departments } from '../../test/toy/departments.ts';
import { letters } from '../../test/toy/letters.ts';
import { createTokenVerifier } from './access-token.ts';

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
