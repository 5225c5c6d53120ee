import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { startEventIndex } from '../../projector/role.ts';
import { test } from '../../test/engines/processes.ts';
import { until } from '../../testing/until.ts';
import { readClockReport } from './drift.ts';
import { createTimesWatch } from './went-back.ts';

const at = (second: number) => `2026-11-30T10:00:0${second}.000Z`;

test('events whose time goes back in their stream are kept once, with both times', async ({ side }) => {
  const stream = 'thing-1' as StreamName;
  const event = (second: number, more = {}) => ({
    ...{ id: randomUUID() as EventId, type: 'thing.noted', data: {} },
    metadata: { at: at(second), ...more },
  });
  const log = pino({ level: 'silent' });
  await using _index = await startEventIndex({ ...side, log, metrics: createMetrics() });
  await side.eventLog.append(stream, 'any', [event(1), event(5), event(3)]);
  await side.eventLog.append('thing-2' as StreamName, 'any', [event(2), event(1, { importedAt: at(5) })]);
  await side.eventLog.append(stream, 'any', [event(4)]);
  const { wentBack } = await until(
    () => readClockReport(side.pool),
    (report) => report.wentBack.count > 0,
  );
  expect(wentBack).toEqual({
    count: 1,
    latest: [{ stream, version: 3, at: new Date(at(3)), before: new Date(at(5)) }],
  });
});

const recorded = (stream: string, version: number, second: number): RecordedEvent =>
  ({
    ...{ stream: stream as StreamName, version: version as Version, data: {}, type: 'thing.noted' },
    metadata: { at: at(second) },
  }) as unknown as RecordedEvent;

test('a batch that is written again finds nothing else, and memory is bounded', () => {
  const watch = createTimesWatch(2);
  const batch = [recorded('a-1', 1, 1), recorded('a-1', 2, 3)];
  expect(watch(batch)).toEqual([]);
  expect(watch(batch)).toEqual([]);
  expect(watch([recorded('a-1', 3, 2)])).toMatchObject([{ stream: 'a-1', version: 3 }]);
  watch([recorded('b-1', 1, 9), recorded('c-1', 1, 9)]);
  // Forgotten: two others were written since.
  expect(watch([recorded('a-1', 4, 1)])).toEqual([]);
});
