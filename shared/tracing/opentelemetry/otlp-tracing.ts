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
import { formatTraceparent, parseTraceparent } from '../traceparent.ts';
import { type Attributes, nowMs, type Span, type SpanKind, type Tracing } from '../tracing.ts';

export type OtlpTracingOptions = {
  /** Of a collector; spans go to `/v1/traces` there. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of all traces that begin here, such a share is recorded. */
  readonly ratio: number;
  /** Which service, version and environment it is, by the names of OpenTelemetry. */
  readonly resource: Readonly<Record<string, string>>;
  readonly losses: Losses;
  /** How long spans wait for others. */
  readonly batchAfterMs?: number | undefined;
};

/** How long an export may take, with all its repetitions. */
const EXPORT_TIMEOUT_MS = 5_000;
const BATCH_AFTER_MS = 1_000;
/** What is left at the end has so long. */
const END_WITHIN_MS = 1_000;
const SPAN_LIMITS = { attributeCountLimit: 32, attributeValueLengthLimit: 256 };

/**
 * Sends spans to a collector by OTLP over HTTP, in batches. Nothing of OpenTelemetry is made global: context
 * is handed on by hand.
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
      // A collector that is away does not hold up the stop.
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

/** It leaves out itself what is undefined, and changes no list. */
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

/** Is told of what becomes of spans. */
type Losses = {
  dropped(count: number, why: unknown): void;
  /** The collector has taken some. */
  taken(): void;
};

const WAITING_MAX = 4_096;
const BATCH_MAX = 512;
const SUCCEEDED = 0;
/** Made once: there may be many. */
const NO_ROOM = new Error(`${WAITING_MAX} spans wait already`);

/**
 * Hands spans to the exporter in batches, one after the other, and counts those that are lost: that did not
 * find room while the collector took nothing, or that it refused. The processor of OpenTelemetry tells
 * neither to anybody.
 */
class BoundedQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #losses: Losses;
  #waiting = 0;
  /** Since the last export, none has succeeded. */
  isFailing = false;

  constructor(exporter: SpanExporter, losses: Losses, batchAfterMs: number) {
    this.#losses = losses;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#watched(exporter),
      // It never has more than are let in.
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
          // What has failed is dealt with.
          done({ code: SUCCEEDED });
        });
      },
      shutdown: () => exporter.shutdown(),
    };
  }
}
