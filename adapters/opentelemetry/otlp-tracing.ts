import { setTimeout as delay } from 'node:timers/promises';
import {
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind as SdkSpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { formatTraceparent, parseTraceparent } from '#kernel/base/traceparent.ts';
import { type Attributes, nowMs, type Span, type SpanKind, type Tracing } from '#shared/tracing/tracing.ts';
import { BoundedQueue, type Losses } from './bounded-queue.ts';

export type OtlpTracingOptions = {
  /** Of a collector; spans go to `/v1/traces` there. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The recorded share of all traces that begin here. */
  readonly ratio: number;
  /** Service, version and environment, by the names of OpenTelemetry. */
  readonly resource: Readonly<Record<string, string>>;
  readonly losses: Losses;
  /** The time in which spans gather. */
  readonly batchAfterMs?: number | undefined;
};

/** The timeout of an export, with all its retries. */
const EXPORT_TIMEOUT_MS = 5_000;
const BATCH_AFTER_MS = 1_000;
/** The timeout of the last export. */
const END_WITHIN_MS = 1_000;
const SPAN_LIMITS = { attributeCountLimit: 32, attributeValueLengthLimit: 256 };

/**
 * Sends spans to a collector by OTLP over HTTP, in batches. Registers nothing of OpenTelemetry globally: code
 * passes contexts on explicitly.
 */
export const openOtlpTracing = ({
  endpoint,
  headers,
  ratio,
  resource,
  losses,
  batchAfterMs = BATCH_AFTER_MS,
}: OtlpTracingOptions): Tracing => {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: EXPORT_TIMEOUT_MS });
  const queue = new BoundedQueue(exporter, losses, batchAfterMs);
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanLimits: SPAN_LIMITS,
    spanProcessors: [queue],
  });
  const tracer = provider.getTracer('annals');
  return {
    isOn: true,
    start(name, { parent, kind = 'internal', attributes, startedAtMs = nowMs() } = {}) {
      const options = {
        kind: KINDS[kind],
        startTime: startedAtMs,
        ...(attributes && { attributes: toSdk(attributes) }),
      };
      return new OtlpSpan(tracer.startSpan(name, options, contextOf(parent)));
    },
    async [Symbol.asyncDispose]() {
      const ending = provider.shutdown().catch(() => {});
      // An unreachable collector does not delay the stop.
      if (!queue.isFailing) await Promise.race([ending, delay(END_WITHIN_MS, undefined, { ref: false })]);
    },
  };
};

const KINDS: Readonly<Record<SpanKind, SdkSpanKind>> = {
  internal: SdkSpanKind.INTERNAL,
  server: SdkSpanKind.SERVER,
  client: SdkSpanKind.CLIENT,
  producer: SdkSpanKind.PRODUCER,
  consumer: SdkSpanKind.CONSUMER,
};

const contextOf = (parent: string | undefined): Context => {
  const place = parseTraceparent(parent);
  if (place === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = place;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  });
};

/** The SDK itself leaves out undefined values, and mutates no list. */
const toSdk = (attributes: Attributes) =>
  attributes as Record<string, string | number | boolean | string[] | undefined>;

class OtlpSpan implements Span {
  readonly #span: SdkSpan;

  constructor(span: SdkSpan) {
    this.#span = span;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return formatTraceparent({ traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 });
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(toSdk(attributes));
  }

  fail(errorType: string): void {
    this.#span.setAttribute('error.type', errorType);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(endedAtMs = nowMs()): void {
    if (this.#span.isRecording()) this.#span.end(endedAtMs);
  }
}
