import { printSchema } from 'graphql';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, instant, integer, line, markdown, ref, states } from '#kernel/declare/fields.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as bothWays } from '../../test/graphql/both-ways.ts';
import { createKindReads } from '../reads/reads.ts';
import { searchesOn } from '../rows/searches.ts';
import { schemaOf } from './schema/schema.ts';

/**
 * Declarations that the publishing domain lacks: the planner and the resolvers agree on them, and show no
 * more than rights allow.
 */
const base = domain({ name: 'declared', roles: ['clerk'] });
const { aggregate, user } = base;

const under = <const Name extends string>(name: Name, parent: { readonly kind: string }, reference: string) =>
  aggregate(name, {
    parent: reference,
    fields: { [reference]: ref(parent), title: line(99) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { as: reference }, write: { clerk: true } },
  } as never);

const purchaseOrder = aggregate('purchaseOrder', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    title: line(99),
    text: markdown(100_000).optional(),
    amount: integer(1, 100).filter(),
    isUrgent: flag().filter('urgent'),
    dueAt: instant().optional().sort(),
    status: states('draft', 'published').filter(),
  },
  events: {
    made: { creates: ['title', 'text', 'amount', 'isUrgent', 'dueAt'] },
    published: { sets: { status: 'published' } },
  },
  commands: { make: { emits: 'made' }, publish: { emits: 'published' } },
  rights: { read: { anyone: 'published', clerk: ['published', 'own'] }, write: { clerk: 'own' } },
});
const row = under('row', purchaseOrder, 'purchaseOrder');
const remark = under('remark', row as never, 'row');
const pin = aggregate('pin', {
  owner: 'clerk',
  fields: { clerk: ref(user), purchaseOrder: ref(purchaseOrder) },
  events: { made: { creates: ['purchaseOrder'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { anyone: true }, write: { clerk: 'own' } },
});
const declared = assemble(base, [purchaseOrder, row, remark, pin] as never);
const policy = policyOf(declared);
const schema = schemaOf(declared);
const ANYONE: Caller = { kind: 'anonymous', policy };
const CLERK = callerIn(policy, { userId: 1, role: 'clerk' });

const COLUMNS = 'version, created_at, updated_at';
const VALUES = `1, '2026-01-01', '2026-01-01'`;
const ROWS = `
  insert into read_model.users (id, name, role, ${COLUMNS}) values (1, 'Carla', 'clerk', ${VALUES});
  insert into read_model.purchase_orders (id, clerk_id, title, text, amount, is_urgent, due_at, status, ${COLUMNS}) values
    (11, 1, 'A draft', null, 5, false, null, 'draft', ${VALUES}),
    (12, 1, 'Shown', null, 7, true, '2026-03-01', 'published', ${VALUES}),
    (13, 1, 'Later', 'long', 7, false, '2026-04-01', 'published', ${VALUES}),
    (14, 1, 'Never', null, 7, false, null, 'published', ${VALUES});
  insert into read_model.rows (id, purchase_order_id, title, ${COLUMNS}) values (21, 11, 'hidden', ${VALUES}), (22, 12, 'row', ${VALUES});
  insert into read_model.remarks (id, row_id, title, ${COLUMNS}) values (31, 21, 'hidden', ${VALUES}), (32, 22, 'remark', ${VALUES});
  insert into read_model.pins (id, clerk_id, purchase_order_id, ${COLUMNS}) values (41, 1, 11, ${VALUES}), (42, 1, 12, ${VALUES});`;

const test = bothWays
  .extend('domain', { scope: 'file' }, declared)
  .extend('rows', { scope: 'file' }, ROWS)
  .extend('reads', { scope: 'file' }, ({ pool }) =>
    createKindReads({ domain: declared, pool, searches: searchesOn(pool) }),
  );

const both = (data: unknown) => [data, data];
const nodes = (...ids: readonly number[]) => both({ purchaseOrders: ids.map((id) => ({ id: String(id) })) });

test('a kind as visible as its parent, which is as visible as its own, is readable with that one', async ({
  answersTo,
}) => {
  const query =
    '{ row(id: 22) { title purchaseOrder { title } remarks { title } } hidden: row(id: 21) { remarks { title } } }';
  const row = { title: 'row', purchaseOrder: { title: 'Shown' }, remarks: [{ title: 'remark' }] };
  expect(await answersTo(query)).toEqual(both({ row, hidden: null }));
  expect(await answersTo(query, CLERK)).toEqual(both({ row, hidden: { remarks: [{ title: 'hidden' }] } }));
});

test('also over REST', async ({ reads }) => {
  const listed = await reads.list('remark')({ caller: ANYONE, id: '22' }, {});
  expect(listed).toMatchObject({
    items: [{ id: 32, title: 'remark', _links: { row: { href: '/rows/22' } } }],
  });
  const { item } = (await reads.item('row')({ caller: ANYONE, id: '22' })) as { item: object };
  expect(item).toMatchObject({ _links: { remarks: { href: '/rows/22/remarks' } } });
  await expect(reads.list('remark')({ caller: ANYONE, id: '21' }, {})).rejects.toThrow();
});

test('numbers and booleans are filtered by their own types', async ({ answersTo }) => {
  expect(await answersTo('{ purchaseOrders(filter: { amount: 7, urgent: true }) { id } }')).toEqual(
    nodes(12),
  );
  expect(await answersTo('{ purchaseOrders(filter: { urgent: false, amount: 7 }) { id } }')).toEqual(
    nodes(14, 13),
  );
  expect(printSchema(schema)).toMatch(/amount: Int\n/);
});

test('ordering by a time that some lack lists only those that have it', async ({ answersTo, reads }) => {
  expect(await answersTo('{ purchaseOrders(sort: DUE_AT_ASC) { id } }')).toEqual(nodes(12, 13));
  const listed = await reads.list('purchaseOrder')({ caller: CLERK, id: '' }, { sort: '-dueAt' });
  expect(listed).toMatchObject({ items: [{ id: 13 }, { id: 12 }] });
});
