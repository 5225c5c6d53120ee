import { randomBytes } from 'node:crypto';
import { formatTraceparent, parseTraceparent } from '#kernel/base/traceparent.ts';
import { type Attributes, nowMs, type Span, type SpanKind, type Tracing } from '../tracing.ts';

export type EndedSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly isFailure: boolean;
};

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Keeps ended spans, for tests. */
export const createMemoryTracing = (): Tracing & { readonly ended: readonly EndedSpan[] } => {
  const ended: EndedSpan[] = [];
  return {
    isOn: true,
    ended,
    start(
      firstName,
      { parent: given, kind = 'internal', attributes: first, startedAtMs = nowMs() } = {},
    ): Span {
      const parent = parseTraceparent(given);
      const isSampled = parent?.isSampled ?? true;
      const [traceId, spanId] = [parent?.traceId ?? hex(16), hex(8)];
      let [name, attributes, isFailure, isOver] = [firstName, withoutUndefined(first), false, !isSampled];
      return {
        traceparent: formatTraceparent({ traceId, spanId, isSampled }),
        rename(next) {
          name = next;
        },
        set(more) {
          attributes = { ...attributes, ...withoutUndefined(more) };
        },
        fail(errorType) {
          isFailure = true;
          attributes = { ...attributes, 'error.type': errorType };
        },
        end(endedAtMs = nowMs()) {
          if (!isOver)
            ended.push({
              name,
              traceId,
              spanId,
              parentSpanId: parent?.spanId,
              kind,
              attributes,
              startedAtMs,
              endedAtMs,
              isFailure,
            });
          isOver = true;
        },
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
};

const withoutUndefined = (attributes: Attributes = {}): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
