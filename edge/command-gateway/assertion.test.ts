import { createHash } from 'node:crypto';
import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import type { SpentProofs } from '#edge/authenticate/spent-proofs.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { gatewayKey, InvalidAssertion, signAssertion, verifyAssertion } from './assertion.ts';

const key = gatewayKey(parseMasterKey(Buffer.alloc(32, 1).toString('base64')));
const anotherKey = gatewayKey(parseMasterKey(Buffer.alloc(32, 2).toString('base64')));
/** Like `createSpentProofs`, for this process alone. */
const spent = new Set<string>();
const spentProofs: SpentProofs = {
  spend: async ({ signer, jti }) => spent.size < spent.add(`${signer} ${jti}`).size,
};
const body = '{"command":{}}';
const ada: Caller = {
  kind: 'user',
  policy: POLICY,
  userId: 7001 as UserId,
  role: 'author',
  scopes: new Set(['write:articles']),
  client: 'cms',
};

test.each<[string, Caller]>([
  ['a user', ada],
  [
    'a user with the scopes of hundreds of aggregates',
    { ...ada, scopes: new Set(Array.from({ length: 500 }, (_, index) => `read:kind-${index}`)) },
  ],
  ['a tool', { ...ada, by: 'tool' }],
  ['a client for which nobody vouches', { ...ada, by: 'agent' }],
  ['a service', { ...ada, by: 'service' }],
  ['nobody', { kind: 'anonymous', policy: POLICY }],
  ['a part of the system', { kind: 'system', name: 'sign-up' }],
])('%s comes through as signed', async (_who, caller) => {
  const assertion = await signAssertion(key, { caller, issuer: 'query', body });
  expect(await verifyAssertion(key, { assertion, body, policy: POLICY, spentProofs })).toEqual(caller);
});

/** A valid assertion except for the given change, so that each test fails for its own reason. */
const forge = (
  change: (jwt: SignJWT) => SignJWT = (jwt) => jwt,
  claims: Record<string, unknown> = {},
  typ = 'caller-assertion+jwt',
) =>
  change(
    new SignJWT({
      caller: { kind: 'system', name: 'x' },
      digest: createHash('sha256').update(body).digest('base64url'),
      ...claims,
    })
      .setProtectedHeader({ alg: 'HS256', typ })
      .setIssuer('query')
      .setAudience('annals:command')
      .setIssuedAt()
      .setExpirationTime('10s'),
  ).sign(key);

test('an unchanged assertion is accepted', async () => {
  expect(await verifyAssertion(key, { assertion: await forge(), body, policy: POLICY, spentProofs })).toEqual(
    {
      kind: 'system',
      name: 'x',
    },
  );
});

test('an assertion is accepted once, and without an id, as the former release signs it, until it expires', async () => {
  const use = (assertion: string) => verifyAssertion(key, { assertion, body, policy: POLICY, spentProofs });
  const assertion = await signAssertion(key, { caller: ada, issuer: 'query', body });
  await use(assertion);
  await expect(use(assertion)).rejects.toThrow(InvalidAssertion);
  const former = await forge();
  expect(await use(former)).toEqual(await use(former));
});

test.each<[string, () => Promise<string>]>([
  ['signed with another key', () => signAssertion(anotherKey, { caller: ada, issuer: 'query', body })],
  ['signed for another body', () => signAssertion(key, { caller: ada, issuer: 'query', body: `${body} ` })],
  ['for another audience', () => forge((jwt) => jwt.setAudience('annals:other'))],
  ['that has expired', () => forge((jwt) => jwt.setExpirationTime('-1m'))],
  ['that lasts for long', () => forge((jwt) => jwt.setIssuedAt('-5m').setExpirationTime('1h'))],
  ['of another type', () => forge(undefined, {}, 'JWT')],
  ['without a caller', () => forge(undefined, { caller: undefined })],
  ['with a caller that is none', () => forge(undefined, { caller: { kind: 'root' } })],
  ['that is unsigned', async () => `${btoa('{"alg":"none"}')}.${btoa('{}')}.`],
  ['that is no token', async () => 'x'],
  ['that is empty', async () => ''],
])('an assertion %s is refused', async (_what, make) => {
  await expect(
    make().then((assertion) => verifyAssertion(key, { assertion, body, policy: POLICY, spentProofs })),
  ).rejects.toThrow(InvalidAssertion);
});
