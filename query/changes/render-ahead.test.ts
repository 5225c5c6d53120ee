import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Lane, Messages } from './lane.ts';
import { createRenderAhead } from './render-ahead.ts';

/** Renders when the test says so. `waiting` is in the order in which rendering began. */
const openKitchen = (count: number) => {
  const waiting = new Map<number, PromiseWithResolvers<Messages>>();
  const renderAhead = createRenderAhead((_lane, { position }) => {
    const order = Promise.withResolvers<Messages>();
    waiting.set(position, order);
    return order.promise;
  });
  const changes = Array.from(
    { length: count },
    (_, place) => ({ position: (place + 1) as Position }) as Change,
  ).values();
  const meals = renderAhead({} as Lane, () => changes.next().value);
  const next = async () => (await meals.next()).value?.map(({ change }) => change.position);
  const serve = (...positions: readonly number[]) => {
    for (const position of positions) waiting.get(position)?.resolve({ message: undefined, own: new Map() });
  };
  return { waiting, next, serve };
};

test('changes are rendered concurrently and delivered in order, together if they are ready together', async () => {
  const { waiting, next, serve } = openKitchen(5);
  const first = next();
  expect([...waiting.keys()]).toEqual([1, 2, 3, 4, 5]);
  serve(2, 3, 5);
  serve(1);
  expect(await first).toEqual([1, 2, 3]);
  const second = next();
  serve(4);
  expect(await second).toEqual([4, 5]);
  expect(await next()).toBeUndefined();
});

test('messages that were ready before a failure are delivered before it', async () => {
  const { waiting, next, serve } = openKitchen(3);
  const first = next();
  waiting.get(2)?.reject(new Error('no way'));
  waiting.get(3)?.reject(new Error('nobody asks'));
  serve(1);
  expect(await first).toEqual([1]);
  await expect(next()).rejects.toThrow('no way');
});

test('the number of concurrent renderings is limited', async () => {
  const { waiting, next, serve } = openKitchen(100);
  const first = next();
  const begun = waiting.size;
  expect(begun).toBeLessThan(50);
  serve(1);
  expect(await first).toEqual([1]);
  const second = next();
  serve(2);
  await second;
  expect(waiting.size).toBe(begun + 1);
});
