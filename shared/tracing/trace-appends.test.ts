import { expect, test } from 'vitest';
import type { EventId, LogIdentity, Position, StreamName, Version } from '#kernel/base/brands.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import type { Appended, EventLog, NewEvent } from '#shared/event-log/event-log.ts';
import { createMemoryTracing } from './memory/memory-tracing.ts';
import { traceAppends, traceOf } from './trace-appends.ts';
import { traceBatches } from './traced-batches.ts';
import { NO_TRACING } from './tracing.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const STREAM = 'article-1' as StreamName;
const eventOf = (metadata: NewEvent['metadata']): NewEvent => ({
  id: `event of ${metadata.trace}` as EventId,
  type: 'article.drafted',
  data: {},
  metadata,
});
const TRACED = eventOf({ trace: TRACE });
const APPENDED: Appended = { version: 1 as Version, position: 5 as Position };

const logThat = (append: () => Promise<Appended>): EventLog => ({
  identity: 'log' as LogIdentity,
  append,
  read: async function* () {},
  find: async () => undefined,
  follow: async function* () {},
  eventAt: async () => undefined,
  head: async () => 0 as Position,
  check: async () => {},
  [Symbol.asyncDispose]: async () => {},
});

test('an append is a span in the trace of its events', async () => {
  const tracing = createMemoryTracing();
  const log = traceAppends(
    logThat(async () => APPENDED),
    tracing,
  );
  expect(await log.append(STREAM, 0 as Version, [TRACED])).toBe(APPENDED);
  expect(tracing.ended).toMatchObject([
    { name: 'append', parentSpanId: 'b7ad6b7169203331', attributes: { 'annals.position': 5 } },
  ]);
  expect(log.identity).toBe('log');
});

test('an append without a trace begins none', async () => {
  const tracing = createMemoryTracing();
  const log = traceAppends(
    logThat(async () => APPENDED),
    tracing,
  );
  await log.append(STREAM, 0 as Version, [eventOf({}), eventOf({ trace: 5 })]);
  expect(tracing.ended).toEqual([]);
  expect(traceOf(undefined)).toBeUndefined();
});

test('a lost race with another writer is no failure, and any other error is', async () => {
  const tracing = createMemoryTracing();
  const stale = new StaleVersion(STREAM, 0 as Version);
  for (const error of [stale, new TypeError('the password is hunter2')]) {
    const log = traceAppends(
      logThat(() => Promise.reject(error)),
      tracing,
    );
    await expect(log.append(STREAM, 0 as Version, [TRACED])).rejects.toBe(error);
  }
  expect(tracing.ended.map(({ isFailure }) => isFailure)).toEqual([false, true]);
  expect(JSON.stringify(tracing.ended)).not.toContain('hunter2');
});

test('with tracing off, the log is unchanged', () => {
  const log = logThat(async () => APPENDED);
  expect(traceAppends(log, NO_TRACING)).toBe(log);
});

test('a batch is reported once it is committed, for each event with a trace', () => {
  const tracing = createMemoryTracing();
  const batches = traceBatches(tracing, 'project');
  batches.begin([TRACED, eventOf({})]);
  // The batch failed, and comes again.
  batches.begin([TRACED, eventOf({})]);
  expect(tracing.ended).toEqual([]);
  batches.committed();
  batches.committed();
  expect(tracing.ended).toMatchObject([
    { name: 'project', attributes: { 'annals.batch.size': 2, 'annals.event.id': TRACED.id } },
  ]);
});
