// Over 200 lines, because it is one table: each operation on each resource, with its permitted callers.
import { describe, expect, test } from 'vitest';
import type { UserId } from '#shared/brands.ts';
import { Rejection } from '#shared/rejection.ts';
import { POLICY, SCOPES } from '../test/engines/policy.ts';
import { admit, admitByScope, authorize, type Caller, may, type Operation, type Resource } from './policy.ts';

/**
 * The table of DESIGN §3, written a second time and by cases, so that the two reveal each other’s mistakes.
 */
const me = 1 as UserId;
const somebody = 2 as UserId;

type Parent = { readonly author: UserId; readonly status?: string };
/** An aggregate with this owner, under any of the owner’s field names; `on` is its parent article. */
const of = (owner: UserId, status?: string, on?: Parent): Resource => ({
  fields: { id: owner, author: owner, owner, status: status ?? null, article: on && 8 },
  find: () => on,
});

const mine = of(me);
const theirs = of(somebody);
const myPublished = of(me, 'published');
const myDraft = of(me, 'draft');
const theirPublished = of(somebody, 'published');
const theirDraft = of(somebody, 'draft');
const theirDeleted = of(somebody);
const theirsOnMyPublished = of(somebody, undefined, { author: me, status: 'published' });
const theirsOnMyDraft = of(somebody, undefined, { author: me, status: 'draft' });
const theirsOnMyDeleted = of(somebody, undefined, { author: me });
const mineOnTheirPublished = of(me, undefined, { author: somebody, status: 'published' });
const mineOnTheirDraft = of(me, undefined, { author: somebody, status: 'draft' });
const theirsOnTheirPublished = of(somebody, undefined, { author: somebody, status: 'published' });
const theirsOnTheirDraft = of(somebody, undefined, { author: somebody, status: 'draft' });

/**
 * The allowed callers by letter: anonymous, reader, author, admin (A for the last), and a dot for a refusal.
 */
const CASES: readonly (readonly [Operation, string, Resource, string])[] = [
  ['user.read', 'my profile', mine, 'n r a A'],
  ['user.read', 'another’s profile', theirs, 'n r a A'],
  ['user.read_private', 'my e-mail', mine, '. r a A'],
  ['user.read_private', 'another’s e-mail', theirs, '. . . A'],
  ['user.register', 'a new user', {}, '. . . A'],
  ['user.update', 'my profile', mine, '. r a A'],
  ['user.update', 'another’s profile', theirs, '. . . A'],
  ['user.change_role', 'my role', mine, '. . . A'],
  ['user.change_role', 'another’s role', theirs, '. . . A'],
  ['user.delete', 'myself', mine, '. r a A'],
  ['user.delete', 'another', theirs, '. . . A'],

  ['article.read', 'my published article', myPublished, 'n r a A'],
  ['article.read', 'another’s published article', theirPublished, 'n r a A'],
  ['article.read', 'my draft', myDraft, '. . a A'],
  ['article.read', 'another’s draft', theirDraft, '. . . A'],
  ['article.read', 'another’s deleted article', theirDeleted, '. . . A'],
  ['article.draft', 'an article of mine', mine, '. . a A'],
  ['article.draft', 'an article in another’s name', theirs, '. . . A'],
  ['article.edit', 'my draft', myDraft, '. . a A'],
  ['article.edit', 'my published article', myPublished, '. . a A'],
  ['article.edit', 'another’s published article', theirPublished, '. . . A'],
  ['article.publish', 'my draft', myDraft, '. . a A'],
  ['article.publish', 'another’s draft', theirDraft, '. . . A'],
  ['article.unpublish', 'my published article', myPublished, '. . a A'],
  ['article.unpublish', 'another’s published article', theirPublished, '. . . A'],
  ['article.delete', 'my article', myPublished, '. . a A'],
  ['article.delete', 'another’s article', theirPublished, '. . . A'],

  ['comment.read', 'a comment on another’s published article', theirsOnTheirPublished, 'n r a A'],
  ['comment.read', 'a comment on my draft', theirsOnMyDraft, '. . a A'],
  ['comment.read', 'a comment on my deleted article', theirsOnMyDeleted, '. . a A'],
  ['comment.read', 'my comment on another’s draft', mineOnTheirDraft, '. . . A'],
  ['comment.read', 'a comment on another’s draft', theirsOnTheirDraft, '. . . A'],
  ['comment.add', 'a comment of mine', mine, '. r a A'],
  ['comment.add', 'a comment in another’s name', theirs, '. . . A'],
  ['comment.edit', 'my comment', mineOnTheirPublished, '. r a A'],
  ['comment.edit', 'another’s comment', theirsOnTheirPublished, '. . . A'],
  ['comment.edit', 'another’s comment on my article', theirsOnMyPublished, '. . . A'],
  ['comment.delete', 'my comment', mineOnTheirPublished, '. r a A'],
  ['comment.delete', 'another’s comment', theirsOnTheirPublished, '. . . A'],
  ['comment.delete', 'another’s comment on my article', theirsOnMyPublished, '. . a A'],

  ['webhook.manage', 'my endpoint', mine, '. r a A'],
  ['webhook.manage', 'another’s endpoint', theirs, '. . . A'],
  ['client.manage', 'OAuth clients', {}, '. . . A'],
  ['token.manage', 'my personal access tokens', {}, '. r a A'],
  ['account.manage', 'accounts of others', {}, '. . . A'],
  ['schema.read', 'the schema of GraphQL', {}, '. r a A'],
  ['events.read', 'the feed', {}, '. r a A'],
  ['events.trace', 'how I came to do something', mine, '. r a A'],
  ['events.trace', 'how another came to do something', theirs, '. . . A'],
  ['events.trace', 'how the system came to do something', {}, '. . . A'],
  ['events.export', 'the log', {}, '. . . A'],
  ['operations.read', 'how the installation does', {}, '. . . A'],
  ['operations.manage', 'what stands still', {}, '. . . A'],
];

const SCOPE_OF: Readonly<Record<Operation, string>> = {
  'user.read': 'read:users',
  'user.read_private': 'read:users',
  'user.register': 'write:users',
  'user.update': 'write:users',
  'user.change_role': 'write:users',
  'user.delete': 'write:users',
  'article.read': 'read:articles',
  'article.draft': 'write:articles',
  'article.edit': 'write:articles',
  'article.publish': 'publish:articles',
  'article.unpublish': 'publish:articles',
  'article.delete': 'write:articles',
  'comment.read': 'read:comments',
  'comment.add': 'write:comments',
  'comment.edit': 'write:comments',
  'comment.delete': 'write:comments',
  'webhook.manage': 'manage:webhooks',
  'schema.read': 'read:schema',
  'client.manage': 'manage:clients',
  'token.manage': 'manage:tokens',
  'account.manage': 'manage:accounts',
  'events.read': 'read:events',
  'events.trace': 'read:events',
  'events.export': 'read:events',
  'operations.read': 'read:events',
  'operations.manage': 'manage:operations',
};

const LETTERS = { n: 'anonymous', r: 'reader', a: 'author', A: 'admin' } as const;
type Name = (typeof LETTERS)[keyof typeof LETTERS];
const names = Object.values(LETTERS);

const callerOf = (name: Name, scopes: readonly string[] = SCOPES): Caller =>
  name === 'anonymous'
    ? { kind: 'anonymous', policy: POLICY }
    : { kind: 'user', policy: POLICY, userId: me, role: name, scopes: new Set(scopes), client: 'web' };

const codeOf = (decision: 'allowed' | Rejection) =>
  decision instanceof Rejection ? decision.code : decision;

describe.each(CASES)('%s: %s', (operation, _, resource, allowed) => {
  test.each(names)('%s', (name) => {
    const isAllowed = allowed
      .split(' ')
      .some((letter) => letter !== '.' && LETTERS[letter as keyof typeof LETTERS] === name);
    const refusal = name === 'anonymous' ? 'unauthenticated' : 'forbidden';
    expect(codeOf(authorize(callerOf(name), operation, resource))).toBe(isAllowed ? 'allowed' : refusal);
    expect(may(callerOf(name), operation, resource)).toBe(isAllowed);
  });
});

test('every operation has a case', () => {
  expect(new Set(CASES.map(([operation]) => operation))).toEqual(new Set(POLICY.rights.keys()));
});

describe.each(Object.entries(SCOPE_OF) as [Operation, string][])(
  '%s, beyond what is public, needs %s',
  (operation, scope) => {
    const rights = of(me, 'published', { author: me, status: 'published' });

    test.each(['reader', 'author', 'admin'] as const)('of a token of %s, and no other helps', (name) => {
      const others = SCOPES.filter((each) => each !== scope);
      const bare = callerOf(name, others);
      const lacking = { code: 'insufficient_scope', details: { scope } };
      expect(admitByScope(bare, operation)).toMatchObject(lacking);
      expect(authorize(bare, operation, myDraft)).toEqual(
        operation === 'user.read' ? 'allowed' : expect.objectContaining(lacking),
      );
      // Nobody loses a right by signing in.
      const isPublic = may(callerOf('anonymous'), operation, rights);
      expect(may(bare, operation, rights)).toBe(isPublic);
      expect(admit(bare, operation)).toEqual(isPublic ? 'allowed' : expect.objectContaining(lacking));
    });

    test('and it suffices for an admin', () => {
      expect(authorize(callerOf('admin', [scope]), operation, rights)).toBe('allowed');
    });

    test('which the system does not need', () => {
      const system: Caller = { kind: 'system', name: 'process-manager' };
      expect(authorize(system, operation, theirDraft)).toBe('allowed');
      expect(admit(system, operation)).toBe('allowed');
      expect(may(system, operation, theirDraft)).toBe(true);
    });
  },
);

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
