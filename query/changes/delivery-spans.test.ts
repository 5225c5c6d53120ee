import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import { createMemoryTracing } from '#shared/tracing/memory/memory-tracing.ts';
import { NO_TRACING } from '#shared/tracing/tracing.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { createDeliverySpans, type DeliverySpans } from './delivery-spans.ts';
import { Lane, type Rendered } from './lane.ts';
import type { Cohort } from './renderings.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const anybody: Caller = { kind: 'anonymous', policy: POLICY };
const at = (position: number) => position as Position;

const changeOf = (position: number, trace?: string): Change =>
  ({
    id: `event-${position}`,
    position: at(position),
    type: 'article.published',
    ...(trace && { trace }),
  }) as unknown as Change;
const indexed = (...changes: readonly Change[]) => changes.map((change) => ({ change, topics: [] }));
const rendered = (change: Change, message: string | undefined): Rendered => ({
  change,
  messages: { message: message === undefined ? undefined : Buffer.from(message), own: new Map() },
});

const laneOf = (key: string, ...after: readonly number[]): Lane => {
  const cohort: Cohort = { key, topics: [], render: async () => undefined };
  const lane = new Lane({ cohort, caller: anybody }, at(0));
  for (const position of after) {
    const reader = {
      cohort,
      caller: anybody,
      after: at(position),
      send: () => undefined,
      moveOn: () => {},
      fail: () => {},
    };
    lane.add({ reader, position: at(position), lane });
  }
  return lane;
};

const open = () => {
  const tracing = createMemoryTracing();
  return { tracing, deliverySpans: createDeliverySpans(tracing) as DeliverySpans };
};

test('a change has one span for all its subscribers, however many their cohorts', async () => {
  const { tracing, deliverySpans } = open();
  const change = changeOf(5, TRACE);
  deliverySpans.receive(indexed(change, changeOf(6)));
  // One reader has it already.
  deliverySpans.delivering(laneOf('a', 0, 0, 5), [rendered(change, 'a'), rendered(changeOf(6), 'b')]);
  await delay(1);
  deliverySpans.delivering(laneOf('b', 0), [rendered(change, 'a')]);
  expect(tracing.ended).toEqual([]);
  const [span] = await until(
    () => tracing.ended,
    ({ length }) => length > 0,
  );
  expect(tracing.ended).toHaveLength(1);
  expect(span).toMatchObject({
    parentSpanId: 'b7ad6b7169203331',
    attributes: { 'annals.event.id': 'event-5', 'annals.feed.readers': 3 },
  });
  expect((span?.endedAtMs ?? 0) - (span?.startedAtMs ?? 0)).toBeGreaterThan(0);
  expect((span?.endedAtMs ?? 0) - (span?.startedAtMs ?? 0)).toBeLessThan(scaled(400));
});

test('changes without subscribers have no span, and open spans end with the process', () => {
  const { tracing, deliverySpans } = open();
  const [one, other, told] = [changeOf(5, TRACE), changeOf(6, TRACE), changeOf(7, TRACE)];
  deliverySpans.receive(indexed(one, other, told));
  deliverySpans.delivering(laneOf('a', 0), [rendered(other, undefined), rendered(told, 'c')]);
  deliverySpans[Symbol.dispose]();
  expect(tracing.ended.map(({ attributes }) => attributes['annals.event.id'])).toEqual(['event-7']);
});

test('does nothing while tracing is off', () => {
  expect(createDeliverySpans(NO_TRACING)).toBeUndefined();
});
