import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openTracing } from '#process/engines/open-tracing.ts';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { createMemoryTracing } from '#shared/tracing/memory/memory-tracing.ts';
import { NO_TRACING } from '#shared/tracing/tracing.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { startOtlpReceiver } from '../engines/otlp-receiver.ts';
import { captureLog } from '../serve.ts';
import { type TracingEngine, testTracing } from './tracing-contract.ts';

/** The maximum of waiting spans. */
const WAITING_MAX = 4_096;

const openAt = async (endpoint: string, settings: Readonly<Record<string, string>> = {}) => {
  const { log, logged } = captureLog();
  const metrics = createMetrics();
  const { tracing, environment } = loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...settings });
  const opened = await openTracing({
    settings: tracing,
    service: 'annals-test',
    environment,
    log,
    metrics,
    batchAfterMs: 20,
  });
  const dropped = async (): Promise<number> => {
    const metric = await metrics.getSingleMetric('annals_trace_spans_dropped_total')?.get();
    return metric?.values[0]?.value ?? Number.NaN;
  };
  return { tracing: opened, logged, dropped };
};

const openMemory = async (): Promise<TracingEngine> => {
  const tracing = createMemoryTracing();
  return {
    tracing,
    ended: async (name) => tracing.ended.filter((span) => span.name === name),
    [Symbol.asyncDispose]: () => tracing[Symbol.asyncDispose](),
  };
};

const openOtlp = async (): Promise<TracingEngine> => {
  await using opening = new AsyncDisposableStack();
  const receiver = opening.use(await startOtlpReceiver());
  const { tracing } = await openAt(receiver.url);
  opening.use(tracing);
  const resources = opening.move();
  return {
    tracing,
    ended: (name, count = 1) =>
      until(
        () => receiver.spans.filter((span) => span.name === name),
        (found) => found.length >= count,
      ),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

testTracing('in memory', openMemory);
testTracing('OTLP', openOtlp);

describe('tracing by OTLP', () => {
  test('is off without a collector', async () => {
    expect((await openAt('')).tracing).toBe(NO_TRACING);
    expect(NO_TRACING.start('nothing').traceparent).toBeUndefined();
  });

  test('names its service, and sends the configured headers', async () => {
    await using receiver = await startOtlpReceiver();
    const settings = { OTEL_SERVICE_NAME: 'journal', OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,X-Other=1' };
    const { tracing } = await openAt(`${receiver.url}/`, settings);
    tracing.start('named').end();
    await tracing[Symbol.asyncDispose]();
    expect(receiver.spans).toMatchObject([{ name: 'named', service: 'journal' }]);
    expect(receiver.printed()).toContain('"x-key":"a b","x-other":"1"');
  });

  test('records the configured share of traces, each completely', async () => {
    await using receiver = await startOtlpReceiver();
    const { tracing } = await openAt(receiver.url, { OTEL_TRACES_SAMPLER_ARG: '0.5' });
    for (let index = 0; index < 400; index += 1) {
      const root = tracing.start('root');
      tracing.start('child', { parent: root.traceparent }).end();
      root.end();
    }
    await tracing[Symbol.asyncDispose]();
    const roots = receiver.spans.filter(({ name }) => name === 'root');
    expect(roots.length).toBeGreaterThan(100);
    expect(roots.length).toBeLessThan(300);
    const children = receiver.spans.filter(({ name }) => name === 'child');
    expect(children.map(({ traceId }) => traceId).sort()).toEqual(roots.map(({ traceId }) => traceId).sort());
  });

  test('the last spans are sent at the stop', async () => {
    await using receiver = await startOtlpReceiver();
    const { tracing } = await openAt(receiver.url);
    for (let index = 0; index < 1_500; index += 1) tracing.start('left').end();
    await tracing[Symbol.asyncDispose]();
    expect(receiver.spans.length).toBe(1_500);
  });

  const refusing = (status: number) => async () => {
    const receiver = await startOtlpReceiver();
    receiver.answer((response) => void response.writeHead(status).end());
    return receiver;
  };
  const away = async () => {
    const receiver = await startOtlpReceiver();
    await receiver[Symbol.asyncDispose]();
    return receiver;
  };
  const silent = async () => {
    const receiver = await startOtlpReceiver();
    receiver.answer(() => {});
    return receiver;
  };

  test.each([
    ['is away', away],
    ['refuses', refusing(400)],
    ['is overloaded', refusing(503)],
    ['does not answer', silent],
  ])(
    'a collector that %s costs spans beyond a few and one warning, and does not hold up the stop',
    async (_what, start) => {
      await using receiver = await start();
      const { tracing, logged, dropped } = await openAt(receiver.url);
      for (let round = 0; round < 10; round += 1) {
        for (let index = 0; index < 2_000; index += 1)
          tracing.start('lost', { attributes: { round, index } }).end();
        await delay(0);
      }
      await until(dropped, (count) => count >= 20_000 - WAITING_MAX);
      const startedMs = performance.now();
      await tracing[Symbol.asyncDispose]();
      expect(performance.now() - startedMs).toBeLessThan(scaled(3_000));
      expect(logged().match(/does not accept traces/g)).toHaveLength(1);
    },
  );

  test('once a collector accepts spans again, that is logged, and new spans are sent', async () => {
    await using receiver = await startOtlpReceiver();
    receiver.answer((response) => void response.writeHead(400).end());
    const { tracing, logged, dropped } = await openAt(receiver.url);
    tracing.start('lost').end();
    await until(dropped, (count) => count === 1);
    receiver.answer(
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    );
    tracing.start('found').end();
    await until(logged, (text) => text.includes('accepts traces again'));
    expect(receiver.spans.some(({ name }) => name === 'found')).toBe(true);
    await tracing[Symbol.asyncDispose]();
  });
});
