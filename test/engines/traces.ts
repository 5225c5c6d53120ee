import { expect } from 'vitest';
import { formatTraceparent, type TraceContext } from '#kernel/base/traceparent.ts';
import { until } from '../../testing/until.ts';
import type { OtlpReceiver, ReceivedSpan } from './otlp-receiver.ts';

let traces = 0;

/** A span context in a trace of its own, as a client starts one. */
export const newTrace = ({ isSampled = true } = {}): TraceContext & { readonly traceparent: string } => {
  traces += 1;
  const context = {
    traceId: `${traces}`.padStart(32, 'a'),
    spanId: `${traces}`.padStart(16, 'b'),
    isSampled,
  };
  return { ...context, traceparent: formatTraceparent(context) };
};

export const spansOf = ({ spans }: OtlpReceiver, traceId: string): readonly ReceivedSpan[] =>
  spans.filter((span) => span.traceId === traceId);

const EXPORTED_WITHIN_MS = 30_000;

/** The spans of a trace, once there is one of each of these names. */
export const untilExported = (
  receiver: OtlpReceiver,
  traceId: string,
  names: readonly string[],
): Promise<readonly ReceivedSpan[]> =>
  until(
    () => spansOf(receiver, traceId),
    (spans) => names.every((name) => spans.some((span) => span.name === name)),
    EXPORTED_WITHIN_MS,
  );

const BY_KAFKA_WITHIN_MS = 60_000;

/** Subscribers get late changes from the log; spans caused by Kafka are children of the publishing. */
export const untilReceivedFromKafka = (
  receiver: OtlpReceiver,
  change: (traceparent: string) => Promise<unknown>,
): Promise<unknown> => {
  const look = async (): Promise<readonly ReceivedSpan[]> => {
    const { traceId, traceparent } = newTrace();
    await change(traceparent);
    return untilExported(receiver, traceId, ['publish', ...NOTIFYING]);
  };
  const isByKafka = (spans: readonly ReceivedSpan[]): boolean => {
    const published = new Set(spans.filter(({ name }) => name === 'publish').map(({ spanId }) => spanId));
    return spans.every(
      ({ name, parentSpanId = '' }) => !NOTIFYING.includes(name) || published.has(parentSpanId),
    );
  };
  return until(look, isByKafka, BY_KAFKA_WITHIN_MS);
};

const NOTIFYING = ['notify subscribers', 'plan webhooks'];

/** The one with this name and these attributes. */
export const only = (
  spans: readonly ReceivedSpan[],
  name: string,
  attributes: ReceivedSpan['attributes'] = {},
): ReceivedSpan => {
  const isLike = (span: ReceivedSpan): boolean =>
    span.name === name && Object.entries(attributes).every(([key, value]) => span.attributes[key] === value);
  const found = spans.filter(isLike);
  expect(
    found,
    `${name} among ${spans.map((span) => `${span.service} ${span.name}`).join(', ')}`,
  ).toHaveLength(1);
  return found[0] as ReceivedSpan;
};

export const linesOf = (printed: string, traceId: string): readonly object[] =>
  printed
    .split('\n')
    .filter((line) => line.includes(`"traceId":"${traceId}"`))
    .map((line) => JSON.parse(line) as object);
