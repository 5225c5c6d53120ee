import { Kind, type OperationDefinitionNode, OperationTypeNode, parse } from 'graphql';
import { expect, it } from 'vitest';
import type { Caller } from '#shared/policy.ts';
import { callerIn, POLICY, SCOPES } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import { readerOf, refusalOf, rightsOf } from './rights.ts';

const rights = (text: string): string[] => {
  const document = parse(text);
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
  return operation ? [...rightsOf({ domain: POLICY.domain, schema }, document, operation)].sort() : [];
};

it('an operation needs the right to read every type it reaches, also through fragments', () => {
  expect(rights('{ __typename }')).toEqual([]);
  expect(rights('{ users { posts { id } } }')).toEqual(['article.read', 'user.read']);
  expect(
    rights('{ ...Q } fragment Q on Query { postsConnection { edges { node { comments { id } } } } }'),
  ).toEqual(['article.read', 'comment.read']);
  expect(rights('{ node(id: 1) { id ... on Post { author { name } } } }')).toEqual([
    'article.read',
    'user.read',
  ]);
});

it('fields excluded by a directive count like all others', () => {
  expect(rights('{ users @skip(if: true) { id } }')).toEqual(['user.read']);
});

it('a mutation needs the right to its command, and to what its result shows', () => {
  expect(rights('mutation { deletePost(id: 1) }')).toEqual(['article.delete']);
  expect(rights('mutation { createPost(input: { title: "", body: "" }) { author { id } } }')).toEqual([
    'article.draft',
    'article.read',
    'user.read',
  ]);
});

const { QUERY, MUTATION } = OperationTypeNode;
const tokenOf = (...scopes: string[]) => callerIn(POLICY, { userId: 1, role: 'author' }, scopes);

it('a caller whose token lacks a scope is refused, and told which', () => {
  const lacks = (scope: string) => ({ code: 'insufficient_scope', details: { scope } });
  expect(refusalOf(tokenOf('read:users'), new Set(['user.read', 'events.read']), QUERY)).toMatchObject(
    lacks('read:events'),
  );
  expect(
    refusalOf({ kind: 'anonymous', policy: POLICY }, new Set(['article.draft']), MUTATION),
  ).toMatchObject({ code: 'unauthenticated' });
  expect(rights('{ me { id } }')).toContain('user.read_private');
  expect(refusalOf(tokenOf(), new Set(['user.read', 'user.read_private']), QUERY)).toMatchObject(
    lacks('read:users'),
  );
  expect(
    refusalOf({ kind: 'anonymous', policy: POLICY }, new Set(['user.read', 'user.read_private']), QUERY),
  ).toBeUndefined();
});

it('public data needs no scope, except in a mutation, which would run before its result is refused', () => {
  expect(refusalOf(tokenOf(), new Set(['user.read', 'article.read', 'comment.read']), QUERY)).toBeUndefined();
  expect(
    refusalOf(tokenOf('write:articles'), new Set(['article.draft', 'article.read']), MUTATION),
  ).toMatchObject({
    code: 'insufficient_scope',
    details: { scope: 'read:articles' },
  });
});

it('comments do not lead to a post that the token may not read directly', () => {
  const scopesOf = (caller: Caller) => caller.kind === 'user' && [...caller.scopes];
  const commentsAlone = tokenOf('read:comments', 'read:events');
  expect(scopesOf(readerOf(commentsAlone, new Set(['article.read', 'comment.read'])))).toEqual([
    'read:events',
  ]);
  expect(readerOf(commentsAlone, new Set(['comment.read']))).toBe(commentsAlone);
  const all = tokenOf(...SCOPES);
  expect(readerOf(all, new Set(['article.read', 'comment.read']))).toBe(all);
});
