import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { mayAsk } from '#edge/rest/admission.ts';
import { assemble } from '#kernel/assembly/assemble.ts';
import { AUDITOR, AUDITOR_UNTIL } from '#kernel/base/auditor.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { endOfAccessMs } from '#kernel/registry/roles.ts';
import { signUpRoleOf } from '#process/sign-up-role.ts';
import { grow } from '../test/domains/grow.ts';
import { audited } from '../test/toy/audited.ts';
import { helpdesk } from '../test/toy/helpdesk.ts';
import { SEED } from '../testing/seed.ts';
import { clientSettingsOf } from './clients/settings.ts';
import { authorize, type Caller, mayAlways, policyOf, reachOf, rightByMethod } from './policy.ts';
import { operationsOf } from './rest/operations.ts';

/** The same domain with auditors, whatever it declares. */
const withAuditors = (given: Domain): Domain => ({
  ...given,
  ...{ kinds: given.kinds, views: given.views, senders: given.senders ?? [] },
  auditors: true,
  roles: [...given.roles.filter((role) => ![AUDITOR, 'admin'].includes(role)), AUDITOR, 'admin'],
});

const DOMAINS: readonly (readonly [string, Domain])[] = [
  [audited.name, audited] as const,
  ...[publishing, helpdesk].map((each) => [each.name, withAuditors(each)] as const),
  ...Array.from(
    { length: 4 },
    (_, index) => [`seed ${SEED + index}`, withAuditors(grow(SEED + index).domain)] as const,
  ),
];

const callerAs = (of: Domain, role: string, scopes: readonly string[] = policyOf(of).scopes): Caller => ({
  ...{
    kind: 'user',
    policy: policyOf(of),
    userId: 1 as UserId,
    role,
    client: 'web',
    scopes: new Set(scopes),
  },
});

describe.each(DOMAINS)('in %s, an auditor', (_name, served) => {
  const auditor = callerAs(served, AUDITOR);
  const administrator = callerAs(served, 'admin');
  const operations = Object.entries(operationsOf(served));
  /** The rights of operations, as each method needs them; one’s own tokens are nobody else’s. */
  const rightsOf = (isRead: boolean): readonly (readonly [string, Operation])[] =>
    operations.flatMap(([id, { method, right }]) =>
      right !== null && right !== 'token.manage' && (method === 'GET') === isRead
        ? [[id, rightByMethod(auditor, right, method)] as const]
        : [],
    );

  test('has no right to an operation that writes, with and without its scope', () => {
    expect(rightsOf(false).length).toBeGreaterThan(20);
    for (const [id, right] of rightsOf(false))
      for (const caller of [auditor, callerAs(served, AUDITOR, [])]) {
        expect([id, [...reachOf(caller, right)]]).toEqual([id, []]);
        expect([id, authorize(caller, right, {})]).toMatchObject([id, { code: 'forbidden' }]);
      }
  });

  test('has no right to a command', () => {
    for (const kind of Object.values(served.kinds))
      for (const { name, internal } of Object.values(kind.commands)) {
        const operation = operationOf(kind, name);
        if (!internal) expect([operation, [...reachOf(auditor, operation)]]).toEqual([operation, []]);
      }
  });

  test('reads what an administrator reads', () => {
    expect(rightsOf(true).length).toBeGreaterThan(20);
    for (const [id, right] of rightsOf(true)) {
      expect([id, [...reachOf(auditor, right)]]).toEqual([id, [...reachOf(administrator, right)]]);
      expect([id, mayAlways(auditor, right)]).toEqual([id, mayAlways(administrator, right)]);
    }
    for (const [id, operation] of operations)
      if (operation.method === 'GET')
        expect([id, mayAsk(auditor, operation)]).toEqual([id, mayAsk(administrator, operation)]);
  });

  test('needs the scopes of a token, as everybody', () => {
    const without = callerAs(served, AUDITOR, []);
    expect(authorize(without, 'events.export', {})).toMatchObject({ code: 'insufficient_scope' });
    expect(mayAlways(without, 'events.export')).toBe(false);
  });
});

test('a role of this name that a domain declares has the rights of its rows', () => {
  const { aggregate, ...base } = domain({ name: 'own', roles: ['clerk', 'auditor'] });
  const note = aggregate('note', {
    fields: { text: line(100) },
    events: { written: { creates: ['text'] } },
    commands: { jot: { emits: 'written' } },
    rights: { read: { auditor: true }, write: { auditor: true } },
  });
  const own = assemble(base, [note]);
  expect(mayAlways(callerAs(own, AUDITOR), 'note.jot')).toBe(true);
  expect(mayAlways(callerAs(own, AUDITOR), 'events.export')).toBe(false);
  expect(() => assemble({ ...base, auditors: true }, [note])).toThrow(
    'the role auditor is in `roles`, and `auditors` adds it with other rights: remove one of them.',
  );
});

test('rights do not name auditors, whose rights the kernel gives', () => {
  const { aggregate, ...base } = domain({ name: 'own', roles: ['clerk'], auditors: true });
  const note = aggregate('note', {
    fields: { text: line(100) },
    events: { written: { creates: ['text'] } },
    commands: { jot: { emits: 'written' } },
    rights: { read: { clerk: true }, write: { auditor: true } as never },
  });
  expect(() => assemble(base, [note])).toThrow(
    'note: the right write names auditor, which is not a role of the domain: use one of clerk, admin',
  );
});

test('nobody becomes an auditor by signing up, and no service is one', () => {
  expect(() => signUpRoleOf(audited, AUDITOR)).toThrow('SIGNUP is auditor');
  const { serviceAccountRole } = clientSettingsOf(audited).settings;
  expect(['clerk', AUDITOR].map((role) => serviceAccountRole.safeParse(role).success)).toEqual([true, false]);
});

test('the access of an auditor ends with their last day, and never began without one', () => {
  const endOf = (role: string, attributes?: Readonly<Record<string, unknown>>) =>
    endOfAccessMs(audited, { role, attributes });
  expect(endOf(AUDITOR, { [AUDITOR_UNTIL]: '2027-03-31' })).toBe(Date.parse('2027-04-01T00:00:00Z'));
  for (const attributes of [undefined, {}, { [AUDITOR_UNTIL]: null }, { [AUDITOR_UNTIL]: 'soon' }])
    expect(endOf(AUDITOR, attributes)).toBe(0);
  expect(endOf('admin', { [AUDITOR_UNTIL]: '2027-03-31' })).toBeUndefined();
  expect(endOfAccessMs(publishing, { role: AUDITOR })).toBeUndefined();
});
