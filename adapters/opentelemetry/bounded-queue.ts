import { TraceFlags } from '@opentelemetry/api';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';

/** Counts the outcome of spans. */
export type Losses = {
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
export class BoundedQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #losses: Losses;
  #waiting = 0;
  /** No export has succeeded since the last failure. */
  isFailing = false;

  constructor(exporter: SpanExporter, losses: Losses, batchAfterMs: number) {
    this.#losses = losses;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#watched(exporter),
      // The batches never get more than this.
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
