import { describe, expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { callerIn, POLICY, SCOPES } from '../test/engines/policy.ts';
import { mayAs, mayReadPart } from '../testing/describe-domain/declared.ts';
import { admit, admitByScope, authorize, type Caller, may, type Resource } from './policy.ts';

const me = 1 as UserId;
const somebody = 2 as UserId;
const USERS = [me, somebody];
const STATUSES = ['draft', 'published', null];

/** Every article and comment of two users, and the users themselves. */
const RESOURCES: readonly Resource[] = USERS.flatMap((owner) =>
  STATUSES.flatMap((status) =>
    USERS.map((author) => ({
      fields: { id: owner, author: owner, owner, status, article: 8 },
      find: () => ({ id: 8, author, status }),
    })),
  ),
);
const theirDraft: Resource = { fields: { id: somebody, author: somebody, status: 'draft' } };
const theirs: Resource = { fields: { id: somebody, author: somebody, owner: somebody } };

const ROLES = ['anonymous', 'reader', 'author', 'admin'] as const;
type Name = (typeof ROLES)[number];
const callerOf = (name: Name, scopes: readonly string[] = SCOPES): Caller =>
  name === 'anonymous'
    ? { kind: 'anonymous', policy: POLICY }
    : { ...callerIn(POLICY, { userId: me, role: name }, scopes), client: 'web' };

const codeOf = (decision: 'allowed' | Rejection) =>
  decision instanceof Rejection ? decision.code : decision;

const declared = [...POLICY.rights.values()].flatMap(({ operation, kind }) =>
  kind === undefined || POLICY.domain.kinds[kind.name] === undefined
    ? []
    : [[operation as Operation, kind] as const],
);
const isPart = ({ fieldRights }: Kind, name: string): boolean => fieldRights[name] !== undefined;
const nameIn = (operation: Operation): string =>
  (operation.split('.')[1] ?? '').replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `domain/contract/rights.json` records the rights; here their evaluation has to be that of the declaration. */
describe.each(declared)('%s', (operation, kind) => {
  test.each(ROLES)('is for %s as declared', (role) => {
    const caller = callerOf(role);
    const name = nameIn(operation);
    for (const resource of RESOURCES) {
      const { fields = {}, find = () => undefined } = resource;
      const asking = { domain: POLICY.domain, role, callerId: role === 'anonymous' ? null : me, find };
      const isAllowed = (isPart(kind, name) ? mayReadPart : mayAs)(asking, kind, name, fields);
      expect(may(caller, operation, resource), JSON.stringify(fields)).toBe(isAllowed);
      const refusal = role === 'anonymous' ? 'unauthenticated' : 'forbidden';
      expect(codeOf(authorize(caller, operation, resource))).toBe(isAllowed ? 'allowed' : refusal);
    }
  });
});

/** The kernel’s own rights ask at most for the owner. */
test.each<[Operation, Resource, string]>([
  ['events.trace', { fields: { owner: me } }, 'reader author admin'],
  ['events.trace', theirs, 'admin'],
  ['events.trace', {}, 'admin'],
  ['events.read', {}, 'reader author admin'],
  ['token.manage', {}, 'reader author admin'],
  ['schema.read', {}, 'reader author admin'],
  ['webhook.manage', { fields: { owner: me } }, 'reader author admin'],
  ['webhook.manage', theirs, 'admin'],
  ...(
    ['client.manage', 'account.manage', 'events.export', 'operations.read', 'operations.manage'] as const
  ).map((operation): [Operation, Resource, string] => [operation, {}, 'admin']),
])('%s of %j is for %s', (operation, resource, allowed) =>
  expect(ROLES.filter((role) => may(callerOf(role), operation, resource)).join(' ')).toBe(allowed),
);

describe.each(
  [...POLICY.rights.values()].map(({ operation, scope }) => [operation as Operation, scope] as const),
)('%s, beyond what is public, needs %s', (operation, scope) => {
  test.each(['reader', 'author', 'admin'] as const)('of a token of %s, and no other helps', (name) => {
    const bare = callerOf(
      name,
      SCOPES.filter((each) => each !== scope),
    );
    const lacking = { code: 'insufficient_scope', details: { scope } };
    expect(admitByScope(bare, operation)).toMatchObject(lacking);
    for (const resource of RESOURCES) {
      // Nobody loses a right by signing in.
      const isPublic = may(callerOf('anonymous'), operation, resource);
      expect(may(bare, operation, resource)).toBe(isPublic);
      expect(authorize(bare, operation, resource)).toEqual(
        isPublic ? 'allowed' : expect.objectContaining(lacking),
      );
    }
  });

  test('and it suffices for an admin', () => {
    for (const resource of RESOURCES)
      expect(authorize(callerOf('admin', [scope]), operation, resource)).toBe('allowed');
  });

  test('which the system does not need', () => {
    const system: Caller = { kind: 'system', name: 'process-manager' };
    expect(authorize(system, operation, theirDraft)).toBe('allowed');
    expect(admit(system, operation)).toBe('allowed');
    expect(may(system, operation, theirDraft)).toBe(true);
  });
});

describe('the order of refusals', () => {
  test('is first to sign in, then the scope, then the right', () => {
    expect(codeOf(authorize(callerOf('anonymous'), 'article.delete', theirs))).toBe('unauthenticated');
    expect(codeOf(authorize(callerOf('reader', []), 'article.delete', theirs))).toBe('insufficient_scope');
    expect(codeOf(authorize(callerOf('author', []), 'article.read', theirDraft))).toBe('insufficient_scope');
    expect(codeOf(authorize(callerOf('reader'), 'article.delete', theirs))).toBe('forbidden');
  });

  test('admits a right that depends on the resource before the resource is known', () => {
    expect(admit(callerOf('anonymous'), 'article.read')).toBe('allowed');
    expect(admit(callerOf('reader'), 'article.delete')).toBe('allowed');
    expect(codeOf(admit(callerOf('anonymous'), 'article.delete'))).toBe('unauthenticated');
  });

  test('asks an anonymous reader of a draft to sign in', () => {
    expect(codeOf(authorize(callerOf('anonymous'), 'article.read', theirDraft))).toBe('unauthenticated');
  });
});

test('an unnamed owner is nobody', () => {
  expect(may(callerOf('author'), 'article.edit', {})).toBe(false);
  expect(may(callerOf('author'), 'comment.delete', {})).toBe(false);
});

test('the scopes of all rights are the possible scopes of a token', () => {
  expect(new Set([...POLICY.rights.values()].map(({ scope }) => scope))).toEqual(new Set(SCOPES));
});
