import { type GraphQLNamedType, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { assemble } from '#kernel/registry/assemble.ts';
import type { UserId } from '#shared/brands.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY, SCOPES } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import { operationOf } from '../../../test/graphql/planned.ts';
import { dependsOnViewer, sameFor } from './depends-on-viewer.ts';

const author: Caller = { kind: 'user', policy: POLICY, userId: 7 as UserId, role: 'author', scopes: new Set(SCOPES), client: null };
const depends = (text: string, caller: Caller = author): boolean => {
  const { document, operation } = operationOf(text);
  return dependsOnViewer({ schema, document }, operation, caller);
};

it('is the same for all but those whom a change concerns, however deep it goes into what is theirs', () => {
  expect(depends('subscription { articlePublished { cursor article { title author { name email posts { title } } } } }')).toBe(false);
  expect(depends('subscription { commentAdded(articleId: 5) { comment { text author { email } post { author { role } } } } }')).toBe(false);
  expect(depends('subscription { userChanged(id: 7) { user { email postsConnection { nodes { title author { email } } } } } }')).toBe(
    false,
  );
  expect(depends('subscription { articleChanged(id: 5) { article { comments { text author { id name } } } } }')).toBe(false);
});

it('depends on the viewer where it leads to what is other people’s alone', () => {
  expect(depends('subscription { articleChanged(id: 5) { article { comments { author { email } } } } }')).toBe(true);
  expect(
    depends('subscription { articleChanged(id: 5) { article { commentsConnection { edges { node { author { posts { id } } } } } } } }'),
  ).toBe(true);
  const fragments = 'fragment A on User { role } fragment P on Post { author { ...A } comments { author { ...A } } }';
  expect(depends(`subscription { changes { article { ...P } } } ${fragments}`)).toBe(true);
  expect(depends('subscription { articlePublished { article { comments { author { ... on Node { ... on User { role } } } } } } }')).toBe(
    true,
  );
});

it('never depends on which administrator it is, nor on nobody', () => {
  const text = 'subscription { articleChanged(id: 5) { article { comments { author { email } } } } }';
  expect(depends(text, { ...author, role: 'admin' })).toBe(false);
  expect(depends(text, { kind: 'anonymous', policy: POLICY })).toBe(false);
});

it('knows every field that a subscription can reach', () => {
  const visited = new Set<GraphQLNamedType>();
  const unknown: string[] = [];
  const visit = (type: GraphQLNamedType): void => {
    if (visited.has(type) || !(isObjectType(type) || isInterfaceType(type))) return;
    visited.add(type);
    for (const { name, type: inner } of Object.values(type.getFields())) {
      if (sameFor(POLICY.domain, type.name, name) === undefined) unknown.push(`${type.name}.${name}`);
      visit(getNamedType(inner) as GraphQLNamedType);
    }
    for (const each of type.getInterfaces()) visit(each);
  };
  const root = schema.getSubscriptionType();
  if (root) visit(root);
  expect(visited.size).toBeGreaterThan(10);
  expect(unknown).toEqual([]);
});

it('is not the same where only some may read what it stands under', () => {
  const base = domain({ name: 'declared', roles: ['clerk'] });
  const claim = base.aggregate('claim', {
    owner: 'clerk',
    fields: { clerk: ref(base.user), title: line(9) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { clerk: 'own' }, write: { clerk: 'own' } },
  });
  const under = (name: string, read: object) =>
    base.aggregate(name, {
      parent: 'claim',
      fields: { claim: ref(claim), title: line(9) },
      events: { made: { creates: ['title'] } },
      commands: { make: { emits: 'made' } },
      rights: { read, write: { clerk: true } },
    } as never);
  const declared = assemble(base, [claim, under('note', { anyone: true }), under('row', { as: 'claim' })] as never);
  expect(['Note', 'Row'].map((type) => sameFor(declared, type, 'claim'))).toEqual([undefined, 'all']);
});
