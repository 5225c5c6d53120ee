import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { Change, ChangePage } from '#shared/change-stream/change-stream.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { until } from '../../testing/until.ts';
import { catchUp, type Delivery } from './advance.ts';
import { Lane } from './lane.ts';
import { createRenderAhead } from './render-ahead.ts';
import type { Cohort } from './renderings.ts';
import { createRing } from './ring.ts';

const at = (position: number) => position as Position;
const reader = callerIn(POLICY, { userId: 1, role: 'reader' }, []);
const cohort: Cohort = { key: 'all', topics: ['all'], render: async () => undefined };
const changeAt = (position: number) =>
  ({ position: at(position), type: 'article.edited', stream: `article-${position}`, data: {} }) as Change;

const END = 100;

/** A log of one page, which counts who holds that page. */
const openPast = () => {
  let holders = 0;
  async function* follow(after: Position): AsyncGenerator<ChangePage> {
    holders += 1;
    try {
      const positions = Array.from({ length: END - after }, (_, index) => after + index + 1);
      yield { changes: positions.map(changeAt), upTo: at(END) };
    } finally {
      holders -= 1;
    }
  }
  return { follow, holders: () => holders };
};

test('while a reader takes nothing, no page is held for it, and it resumes after what it has', async () => {
  const past = openPast();
  const lane = new Lane({ cohort, caller: reader }, at(0));
  const received: Position[] = [];
  const room = Promise.withResolvers<void>();
  const send = (_message: Buffer, position: Position) => {
    received.push(position);
    return room.promise;
  };
  lane.add({
    reader: { cohort, caller: reader, after: at(0), send, moveOn: () => {}, fail: () => {} },
    position: at(0),
    lane,
  });
  const renderAhead = createRenderAhead(async () => ({ message: Buffer.from('x'), own: new Map() }));
  const write: Delivery['write'] = (to, rendered) => to.write(rendered);
  const sources = {
    renderAhead,
    write,
    ring: createRing(at(END), () => ['all']),
    history: past,
    goLive: () => {},
  };

  const first = catchUp(lane, sources);
  await until(
    () => received.length,
    (count) => count > 0,
  );
  expect(past.holders()).toBe(1);
  await until(past.holders, (count) => count === 0);
  const taken = received.length;
  expect(taken).toBeLessThan(END);
  room.resolve();
  await first;
  expect([received.length, lane.delivered]).toEqual([taken, taken]);
  await catchUp(lane, sources);
  expect(received).toEqual(Array.from({ length: END }, (_, index) => index + 1));
});
