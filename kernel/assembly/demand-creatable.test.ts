import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { type Fields, line, ref } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const assembled = (kinds: Readonly<Record<string, Fields>>, requires: readonly string[] = []): unknown => {
  const base = domain({ name: 'shop', roles: ['buyer'] });
  const aggregates = Object.entries(kinds).map(([name, fields]) =>
    base.aggregate(name, {
      fields: { title: line(9), ...fields },
      events: { opened: { creates: ['title', ...Object.keys(fields)] } },
      commands: { open: { emits: 'opened', requires } },
      rights: { read: { anyone: true }, write: { buyer: true } },
    } as never),
  );
  return assemble(base as never, aggregates as never);
};

test.each<[string, Readonly<Record<string, Fields>>, string]>([
  [
    'itself',
    { box: { inside: ref('box') } },
    'box: its creation requires box.inside, which leads back to a box, so none can be created first: make a reference optional().',
  ],
  [
    'another that requires it',
    { order: { bill: ref('bill') }, bill: { shipment: ref('shipment') }, shipment: { bill: ref('bill') } },
    'bill: its creation requires bill.shipment, shipment.bill, which leads back to a bill, so none can be created first: make a reference optional().',
  ],
])('an aggregate that requires %s first is refused', (_, kinds, sentence) => {
  expect(() => assembled(kinds)).toThrow(sentence);
});

test('a circle with an optional reference can begin', () => {
  expect(() => assembled({ box: { inside: ref('box').optional() } })).not.toThrow();
  expect(() =>
    assembled({ bill: { of: ref('shipment') }, shipment: { bill: ref('bill').optional() } }),
  ).not.toThrow();
});

test('a circle with an optional reference that the creation requires cannot begin', () => {
  expect(() => assembled({ box: { inside: ref('box').optional() } }, ['inside'])).toThrow(
    'box: its creation requires box.inside, which leads back to a box, so none can be created first: remove inside from `requires`.',
  );
});
