import { expect, test } from 'vitest';
import { gatewayKey, signAssertion } from '#edge/command-gateway/assertion.ts';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { demandScopesFit } from './demand-scopes-fit.ts';
import { loadConfig } from './load-config.ts';

const domainOf = (aggregates: number, attributes: readonly string[] = []) => {
  const fields = Object.fromEntries(attributes.map((name) => [name, line(200).optional()]));
  const base = domain({
    name: 'large',
    roles: ['clerk'],
    user: { fields: fields as never, fieldRights: { place: { writes: attributes as never } } },
  });
  const own = Object.fromEntries(attributes.map((name) => [name, { caller: name }]));
  return assemble(
    base,
    Array.from({ length: aggregates }, (_, index) =>
      base.aggregate(`contractAmendment${index}`, {
        fields: { title: line(10), ...(fields as object) },
        events: { made: { creates: ['title'] } },
        commands: { make: { emits: 'made' } },
        rights: { read: { signedIn: true }, write: { clerk: own as never } },
      }),
    ),
  );
};
const { headerBytesMax } = loadConfig({}).limits;

test('by default, tokens of two hundred aggregates fit into a request', () => {
  expect(() => demandScopesFit(domainOf(200), { headerBytesMax })).not.toThrow();
});

test('refuses to start if a token of all scopes does not fit into a request', () => {
  expect(() => demandScopesFit(domainOf(60), { headerBytesMax: 4_096 })).toThrow(
    /^HEADER_BYTES_MAX is 4096, but a request with a token of all 1\d\d scopes of large may have \d+ bytes/,
  );
});

test('refuses to start with more scopes than a token can have', () => {
  expect(() => demandScopesFit(domainOf(1_001), { headerBytesMax: 1_000_000 })).toThrow(
    /^large has 20\d\d scopes, but a token can have at most 2000/,
  );
});

/** The start must leave room for the headers that a role really sends. */
test.for<[string, readonly string[]]>([
  ['all scopes', []],
  ['all scopes and attributes of its user', ['region', 'branch', 'trade']],
])('refuses to start if the assertion of a caller with %s does not fit', async ([_what, attributes]) => {
  const large = domainOf(100, attributes);
  const policy = policyOf(large);
  const caller: Caller = {
    ...{ kind: 'user', policy, userId: Number.MAX_SAFE_INTEGER as UserId, role: 'clerk' },
    client: 'c'.repeat(100),
    scopes: new Set(policy.scopes),
    attributes: Object.fromEntries(attributes.map((name) => [name, '\u6f22'.repeat(200)])),
  };
  const key = gatewayKey(parseMasterKey(Buffer.alloc(32, 1).toString('base64')));
  const assertion = await signAssertion(key, { caller, issuer: 'webhook-dispatcher', body: '{}' });
  expect(() => demandScopesFit(large, { headerBytesMax: assertion.length })).toThrow(/^HEADER_BYTES_MAX/);
});

test('leaves room for a certificate that an ingress sends', () => {
  const large = domainOf(100);
  const refused = (limits: object) => {
    try {
      demandScopesFit(large, { headerBytesMax: 1, ...limits });
    } catch (error) {
      return String(error);
    }
    return 'it starts';
  };
  const needed = Number(/may have (\d+) bytes/.exec(refused({}))?.[1]);
  expect(refused({ headerBytesMax: needed })).toBe('it starts');
  expect(refused({ headerBytesMax: needed, ingressSecret: 'secret' })).toMatch(
    / and a client certificate of large/,
  );
});
