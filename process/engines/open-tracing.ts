import { randomUUID } from 'node:crypto';
import type { TracingSettings } from '#process/config.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Log } from '#shared/log.ts';
import { Counter, type Registry } from '#shared/prometheus.ts';
import { NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import packageJson from '../../package.json' with { type: 'json' };

type Options = {
  readonly settings: TracingSettings;
  /** The default name of the service. */
  readonly service: string;
  readonly environment: string;
  readonly log: Log;
  readonly metrics: Registry;
  /** The time in which spans gather. */
  readonly batchAfterMs?: number;
};

/** Tracing according to the settings: loads OpenTelemetry only if there is a collector. */
export const openTracing = async ({
  settings,
  service,
  environment,
  log,
  metrics,
  batchAfterMs,
}: Options): Promise<Tracing> => {
  const { endpoint, headers, ratio, serviceName } = settings;
  if (endpoint === undefined) return NO_TRACING;
  const { openOtlpTracing } = await loadEngine(
    'OpenTelemetry',
    () => import('#adapters/opentelemetry/otlp-tracing.ts'),
  );
  const resource = {
    'service.name': serviceName ?? service,
    'service.version': packageJson.version,
    'service.instance.id': randomUUID(),
    'deployment.environment.name': environment,
  };
  return openOtlpTracing({
    endpoint,
    headers,
    ratio,
    resource,
    losses: reportLosses(log, metrics),
    batchAfterMs,
  });
};

/** Warns once per outage of the collector, and counts all lost spans. */
const reportLosses = (log: Log, metrics: Registry) => {
  const counter = new Counter({
    name: 'annals_trace_spans_dropped_total',
    help: 'Spans dropped because no collector accepted them.',
    registers: [metrics],
  });
  let isReported = false;
  return {
    dropped(count: number, err: unknown): void {
      counter.inc(count);
      if (!isReported) log.warn({ err }, 'The collector does not accept traces; they are dropped meanwhile.');
      isReported = true;
    },
    taken(): void {
      if (isReported) log.info('The collector accepts traces again.');
      isReported = false;
    },
  };
};
