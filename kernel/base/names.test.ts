import { expect, test } from 'vitest';
import * as z from 'zod';
import { checkAppend } from '#shared/event-log/check-append.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { assemble } from '../assembly/assemble.ts';
import { rightsOf } from '../conditions/rights.ts';
import { typeOfCommand } from '../decide/decide.ts';
import { domain } from '../declare/domain.ts';
import { line, ref } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';
import { definitionOf } from '../rows/definition.ts';
import { tableOf } from '../rows/table.ts';
import { eventTypes } from '../webhook/webhook-fields.ts';
import type { EventId, StreamName } from './brands.ts';
import { streamName } from './events/streams.ts';
import { pathStream } from './rest/path-id.ts';

const base = domain({ name: 'orders', roles: ['buyer'] });
const { aggregate, user } = base;
const order = aggregate('purchaseOrder', {
  owner: 'placedBy',
  fields: { placedBy: ref(user), deliveryNote: line(10) },
  events: {
    placed: { creates: ['deliveryNote'] },
    noteChanged: { changes: ['deliveryNote'] },
    withdrawn: { ends: true },
  },
  commands: {
    place: { emits: 'placed' },
    changeNote: { emits: 'noteChanged' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: { read: { anyone: true }, write: { buyer: 'own' } },
});
const orders = assemble(base, [order]);
const kind = orders.kinds.purchaseOrder as Kind;

test('a kind of several words has the right form of name in each place', () => {
  expect(kind).toMatchObject({
    name: 'purchaseOrder',
    type: 'PurchaseOrder',
    table: 'purchase_orders',
    path: 'purchase-orders',
  });
  expect(typeOfCommand(kind, 'changeNote')).toBe('ChangeNotePurchaseOrder');
  expect(
    [...rightsOf(orders)]
      .filter(([name]) => name.startsWith('purchaseOrder'))
      .map(([name, { scope }]) => [name, scope]),
  ).toEqual([
    ['purchaseOrder.read', 'read:purchase-orders'],
    ['purchaseOrder.place', 'write:purchase-orders'],
    ['purchaseOrder.change_note', 'write:purchase-orders'],
    ['purchaseOrder.withdraw', 'write:purchase-orders'],
  ]);
});

test('its table has names that PostgreSQL accepts without quotes', () => {
  expect(Object.keys(tableOf(kind).columns)).toEqual([
    'id',
    'placed_by_id',
    'delivery_note',
    'version',
    'created_at',
    'updated_at',
  ]);
  expect(definitionOf(kind).table).toMatch(/^create table purchase_orders /);
  expect(definitionOf(kind).table).not.toMatch(/[A-Z]/);
});

test('the log, webhooks and paths accept its events and its stream', () => {
  const { type } = catalogueOf(orders).find('purchaseOrder.noteChanged') ?? { type: '' };
  const stream = streamName(kind.name, 8) as StreamName;
  const event = { id: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b' as EventId, type, data: {}, metadata: {} };
  expect(checkAppend(stream, 'any', [event])).toMatchObject([{ type: 'purchaseOrder.noteChanged' }]);
  expect(z.safeParse(eventTypes, [type, 'purchaseOrder.*']).success).toBe(true);
  expect(pathStream(stream)).toBe(stream);
});
