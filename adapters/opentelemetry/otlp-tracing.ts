// Over 200 lines, because it is one adapter.
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
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { formatTraceparent, parseTraceparent } from '#kernel/base/traceparent.ts';
import { type Attributes, nowMs, type Span, type SpanKind, type Tracing } from '#shared/tracing/tracing.ts';

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

/** Counts the outcome of spans. */
type Losses = {
  dropped(count: number, why: unknown): void;
  /** The collector has accepted some. */
  taken(): void;
};

const WAITING_MAX = 4_096;
const BATCH_MAX = 512;
const SUCCEEDED = 0;
/** Created once: there may be many. */
const NO_ROOM = new Error(`${WAITING_MAX} spans wait already`);

/**
 * Passes spans to the exporter in batches, one after the other, and counts lost ones: those without room
 * while the collector accepted nothing, and those it refused. OpenTelemetry’s own processor reports neither.
 */
class BoundedQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #losses: Losses;
  #waiting = 0;
  /** No export has succeeded since the last failure. */
  isFailing = false;

  constructor(exporter: SpanExporter, losses: Losses, batchAfterMs: number) {
    this.#losses = losses;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#watched(exporter),
      // It never gets more than this.
      maxQueueSize: WAITING_MAX,
      maxExportBatchSize: BATCH_MAX,
      scheduledDelayMillis: batchAfterMs,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= WAITING_MAX) {
      this.#losses.dropped(1, NO_ROOM);
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #watched(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        exporter.export(spans, ({ code, error }) => {
          this.#waiting -= spans.length;
          this.isFailing = code !== SUCCEEDED;
          if (this.isFailing) this.#losses.dropped(spans.length, error);
          else this.#losses.taken();
          // A failed export is handled by then.
          done({ code: SUCCEEDED });
        });
      },
      shutdown: () => exporter.shutdown(),
    };
  }
}
