// Over 200 lines, because it is one list: queries whose result depends on the viewer, and those whose result
// does not.
import { type GraphQLNamedType, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, instant, integer, line, list, ref } from '#kernel/declare/fields.ts';
import type { Caller } from '#shared/policy.ts';
import { callerIn, POLICY } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import { operationOf } from '../../../test/graphql/planned.ts';
import { dependsOnViewer } from './depends-on-viewer.ts';
import { sameFor } from './same-for.ts';

const author = callerIn(POLICY, { userId: 7, role: 'author' });
const depends = (text: string, caller: Caller = author): boolean => {
  const { document, operation } = operationOf(text);
  return dependsOnViewer({ schema, document }, operation, caller);
};

it('is false except for viewers whom a change concerns, however deep the query goes into their own data', () => {
  expect(
    depends(
      'subscription { articlePublished { cursor article { title author { name email posts { title } } } } }',
    ),
  ).toBe(false);
  expect(
    depends(
      'subscription { commentAdded(articleId: 5) { comment { text author { email } post { author { role } } } } }',
    ),
  ).toBe(false);
  expect(
    depends(
      'subscription { userChanged(id: 7) { user { email postsConnection { nodes { title author { email } } } } } }',
    ),
  ).toBe(false);
  expect(
    depends('subscription { articleChanged(id: 5) { article { comments { text author { id name } } } } }'),
  ).toBe(false);
});

it('is true for a query that leads to private data of others', () => {
  expect(
    depends('subscription { articleChanged(id: 5) { article { comments { author { email } } } } }'),
  ).toBe(true);
  expect(
    depends(
      'subscription { articleChanged(id: 5) { article { commentsConnection { edges { node { author { posts { id } } } } } } } }',
    ),
  ).toBe(true);
  const fragments =
    'fragment A on User { role } fragment P on Post { author { ...A } comments { author { ...A } } }';
  expect(depends(`subscription { changes { article { ...P } } } ${fragments}`)).toBe(true);
  expect(
    depends(
      'subscription { articlePublished { article { comments { author { ... on Node { ... on User { role } } } } } } }',
    ),
  ).toBe(true);
});

it('is false between administrators, and between anonymous viewers', () => {
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
      // Subscriptions refuse groups, which may differ for every viewer.
      if (name.endsWith('Aggregate')) continue;
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

it('is true if only some viewers may read the parent', () => {
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
  const declared = assemble(base, [
    claim,
    under('note', { anyone: true }),
    under('row', { as: 'claim' }),
  ] as never);
  expect(['Note', 'Row'].map((type) => sameFor(declared, type, 'claim'))).toEqual([undefined, 'all']);
});

it('is true if the change does not contain the owner of the parent', () => {
  const base = domain({ name: 'open', roles: ['clerk'] });
  const claimRead = (read: object) => {
    const claim = base.aggregate('claim', {
      owner: 'clerk',
      fields: { clerk: ref(base.user), title: line(9), price: integer(0, 9).optional() },
      events: { made: { creates: ['title'] }, priced: { changes: ['price'] } },
      commands: { make: { emits: 'made' }, price: { emits: 'priced' } },
      rights: { read, write: { clerk: true } },
      fieldRights: { readPrice: { reads: ['price'], clerk: 'own' } },
    } as never);
    const row = base.aggregate('row', {
      parent: 'claim',
      fields: { claim: ref(claim), title: line(9) },
      events: { made: { creates: ['title'] } },
      commands: { make: { emits: 'made' } },
      rights: { read: { as: 'claim' }, write: { clerk: true } },
    } as never);
    const declared = assemble(base, [claim, row] as never);
    return [sameFor(declared, 'Claim', 'price'), sameFor(declared, 'Row', 'claim')];
  };
  expect(claimRead({ clerk: 'own' })).toEqual(['all_but_its_own', 'all']);
  expect(claimRead({ anyone: true })).toEqual(['all_but_its_own', 'all_and_leads_to_others']);
});

it('is true if a guarded part depends on users other than the owner, whom the change of another aggregate need not concern', () => {
  const base = domain({ name: 'parts', roles: ['customer', 'agent'] });
  const ticketOf = (agent: object | true) =>
    base.aggregate('ticket', {
      owner: 'customer',
      fields: {
        customer: ref(base.user),
        assignee: ref(base.user).optional(),
        verdict: line(9).optional(),
        budget: integer(0, 9).optional(),
        price: integer(0, 9).optional(),
        plannedAt: instant().optional(),
        pricedAt: instant().optional(),
        notes: list({ text: line(9), internal: flag().default(false) }, { max: 9 }),
        costs: list({ amount: integer(0, 9) }, { max: 9 }),
        bills: list({ amount: integer(0, 9) }, { max: 9 }),
      },
      events: {
        opened: { creates: ['assignee'] },
        judged: { changes: ['verdict'] },
        planned: { changes: ['budget'], sets: { plannedAt: 'now' } },
        priced: { changes: ['price'], sets: { pricedAt: 'now' } },
        noted: { adds: 'notes' },
        spent: { adds: 'costs' },
        billed: { adds: 'bills' },
      },
      commands: {
        open: { emits: 'opened' },
        judge: { emits: 'judged' },
        plan: { emits: 'planned' },
        price: { emits: 'priced' },
        addNote: { emits: 'noted' },
        addCost: { emits: 'spent' },
        addBill: { emits: 'billed' },
      },
      rights: { read: { customer: 'own', agent: true }, write: { agent: true } },
      fieldRights: {
        readVerdict: { reads: ['verdict'], items: { notes: { internal: true } }, agent },
        readBudget: { reads: ['budget', 'costs', 'plannedAt'], agent: true },
        readPrice: { reads: ['price', 'bills', 'pricedAt'], customer: 'own', agent: true },
      },
    } as never);
  const commented = (agent: object | true) => {
    const ticket = ticketOf(agent) as never;
    const comment = base.aggregate('comment', {
      parent: 'ticket',
      fields: { ticket: ref(ticket), text: line(9) },
      events: { made: { creates: ['text'] } },
      commands: { make: { emits: 'made' } },
      rights: { read: { as: 'ticket' }, write: { agent: true } },
    } as never);
    return assemble(base, [ticket, comment] as never);
  };
  const FIELDS = [
    'verdict',
    'notes',
    'notesConnection',
    'version',
    'updatedAt',
    'budget',
    'costs',
    'price',
    'bills',
    'billsConnection',
  ];
  const same = (agent: object | true) =>
    Object.fromEntries(FIELDS.map((name) => [name, sameFor(commented(agent), 'Ticket', name)]));
  const own = 'all_but_its_own';
  const others = { budget: 'all', costs: 'all', price: own, bills: own, billsConnection: own };
  expect(same({ assignee: { caller: false } })).toEqual({
    ...{
      verdict: undefined,
      notes: undefined,
      notesConnection: undefined,
      version: undefined,
      updatedAt: undefined,
    },
    ...others,
  });
  expect(same(true)).toEqual({
    verdict: 'all',
    notes: 'all',
    notesConnection: 'all',
    version: own,
    updatedAt: own,
    ...others,
  });
});
