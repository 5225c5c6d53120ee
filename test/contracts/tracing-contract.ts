import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatTraceparent, parseTraceparent, type TraceContext } from '#kernel/base/traceparent.ts';
import type { EndedSpan } from '#shared/tracing/memory/memory-tracing.ts';
import { nowMs, type Span, type Tracing } from '#shared/tracing/tracing.ts';

export type TracingEngine = AsyncDisposable & {
  /** Records every trace that begins here. */
  readonly tracing: Tracing;
  /** The exported spans of this name, once there are `count`. */
  ended(name: string, count?: number): Promise<readonly EndedSpan[]>;
};

const PARENT: TraceContext = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  isSampled: true,
};

const traceContextOf = (span: Span): TraceContext => {
  const context = parseTraceparent(span.traceparent);
  if (context === undefined) throw new Error(`${span.traceparent} is no traceparent`);
  return context;
};

/** The contract of every tracing adapter. */
export const testTracing = (name: string, open: () => Promise<TracingEngine>): void => {
  describe(`tracing: ${name}`, () => {
    let engine: TracingEngine;
    let tracing: Tracing;
    beforeAll(async () => {
      engine = await open();
      tracing = engine.tracing;
    });
    afterAll(() => engine?.[Symbol.asyncDispose]());

    const spanOf = async (name: string): Promise<EndedSpan> => {
      const [span] = await engine.ended(name);
      if (span === undefined) throw new Error(`no span ${name} has ended`);
      return span;
    };

    test('is on', () => {
      expect(tracing.isOn).toBe(true);
    });

    test('a span without a parent begins a trace', async () => {
      const span = tracing.start('root');
      const context = traceContextOf(span);
      span.end();
      const { isSampled, ...ids } = context;
      expect(isSampled).toBe(true);
      expect(await spanOf('root')).toMatchObject({
        ...ids,
        parentSpanId: undefined,
        kind: 'internal',
        isFailure: false,
      });
      expect(traceContextOf(tracing.start('another')).traceId).not.toBe(context.traceId);
    });

    test('a span continues the trace of its parent', async () => {
      const span = tracing.start('child', { parent: formatTraceparent(PARENT), kind: 'server' });
      const { spanId } = traceContextOf(span);
      expect(spanId).not.toBe(PARENT.spanId);
      tracing.start('grandchild', { parent: span.traceparent, kind: 'client' }).end();
      span.end();
      expect(await spanOf('child')).toMatchObject({
        traceId: PARENT.traceId,
        parentSpanId: PARENT.spanId,
        spanId,
        kind: 'server',
      });
      expect(await spanOf('grandchild')).toMatchObject({
        traceId: PARENT.traceId,
        parentSpanId: spanId,
        kind: 'client',
      });
    });

    test('the children of an unrecorded trace are not recorded either, but belong to it', async () => {
      const span = tracing.start('unrecorded', {
        parent: formatTraceparent({ ...PARENT, isSampled: false }),
      });
      expect(traceContextOf(span)).toMatchObject({ traceId: PARENT.traceId, isSampled: false });
      span.set({ 'annals.id': 1 });
      span.fail('Error');
      span.end();
      tracing.start('recorded').end();
      await engine.ended('recorded');
      expect(await engine.ended('unrecorded', 0)).toEqual([]);
    });

    test.each(['', 'x', `00-${'0'.repeat(32)}-${PARENT.spanId}-01`])(
      'with the parent “%s”, which is none, a trace begins',
      async (parent) => {
        const { traceId, isSampled } = traceContextOf(tracing.start('lost', { parent }));
        expect(isSampled).toBe(true);
        expect(traceId).not.toMatch(/^0+$/);
      },
    );

    test('a span has its first and later attributes, and its last name', async () => {
      const span = tracing.start('before', {
        attributes: { text: 'a', number: 1, absent: undefined, replaced: 'first' },
      });
      span.set({ flag: true, share: 0.5, list: ['x', 'y'], replaced: 'second', missing: undefined });
      span.rename('after');
      span.end();
      const { attributes } = await spanOf('after');
      expect(attributes).toEqual({
        text: 'a',
        number: 1,
        flag: true,
        share: 0.5,
        list: ['x', 'y'],
        replaced: 'second',
      });
    });

    test('a failure is recorded by its type', async () => {
      const span = tracing.start('failing');
      span.fail('TypeError');
      span.end();
      expect(await spanOf('failing')).toMatchObject({
        isFailure: true,
        attributes: { 'error.type': 'TypeError' },
      });
    });

    test('a span may be recorded after its end', async () => {
      const endedAtMs = nowMs();
      tracing.start('past', { startedAtMs: endedAtMs - 1_234.5 }).end(endedAtMs);
      const span = await spanOf('past');
      expect(span.endedAtMs - span.startedAtMs).toBeCloseTo(1_234.5, 1);
      expect(span.endedAtMs).toBeCloseTo(endedAtMs, 1);
    });

    test('a span has the duration of its work', async () => {
      const beforeMs = nowMs();
      tracing.start('quick').end();
      const { startedAtMs, endedAtMs } = await spanOf('quick');
      expect(startedAtMs).toBeGreaterThanOrEqual(beforeMs - 1);
      expect(endedAtMs).toBeGreaterThanOrEqual(startedAtMs);
      expect(endedAtMs).toBeLessThanOrEqual(nowMs() + 1);
    });

    test('a span ends once, and never changes afterwards', async () => {
      const span = tracing.start('once');
      span.end();
      span.set({ late: true });
      span.fail('Late');
      span.rename('late');
      span.end();
      tracing.start('afterwards').end();
      await engine.ended('afterwards');
      expect(await engine.ended('once')).toMatchObject([{ name: 'once', attributes: {}, isFailure: false }]);
    });

    test('a span without an end is not exported', async () => {
      tracing.start('endless');
      tracing.start('last').end();
      await engine.ended('last');
      expect(await engine.ended('endless', 0)).toEqual([]);
    });

    test('many spans are all exported', async () => {
      for (let index = 0; index < 2_000; index += 1) tracing.start('many', { attributes: { index } }).end();
      const spans = await engine.ended('many', 2_000);
      expect(new Set(spans.map(({ attributes }) => attributes.index)).size).toBe(2_000);
    });
  });
};
