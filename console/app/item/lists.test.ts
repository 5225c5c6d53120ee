import { expect, test } from 'vitest';
import { changedItems } from './lists.ts';

test('items of lists are compared by key: added, removed, changed, or the same', () => {
  let made = 0;
  const item = (id: number, amount: number) => {
    made += 1;
    return { id, amount, _links: { self: { href: `/${id}/${made}` } } };
  };
  const changed = changedItems(
    { id: 'id' },
    [item(1, 5), item(2, 5), item(3, 5)],
    [item(2, 5), item(3, 6), item(4, 5)],
  );
  expect(changed.map(({ id, was, is }) => [id, was.amount, is.amount])).toEqual([
    ['1', 5, undefined],
    ['3', 5, 6],
    ['4', undefined, 5],
  ]);
});
