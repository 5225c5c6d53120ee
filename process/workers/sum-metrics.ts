import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { loadAggregator } from '#shared/prometheus.ts';

/** The metrics of a process, sent to another one. */
export type MetricsSnapshot = readonly Metric[];
type Metric = MetricObjectWithValues<MetricValue<string>>;

export type MetricsSum = {
  /** Replaces the former snapshot of a process. */
  keep(who: string, snapshot: MetricsSnapshot): void;
  /** For a process that has ended: its counters stay in the sum, and its gauges are removed. */
  retire(who: string): void;
  sum(): Registry;
};

/** A counter that decreases counts as restarted, and the whole sum as an increase. */
const STAYING: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** The metrics of several processes as if they were one. */
export const createMetricsSum = (): MetricsSum => {
  const latest = new Map<string, MetricsSnapshot>();
  let retired: MetricsSnapshot = [];
  return {
    keep: (who, snapshot) => void latest.set(who, snapshot),
    retire(who) {
      const counted = (latest.get(who) ?? []).filter(({ type }) => STAYING.has(String(type)));
      latest.delete(who);
      retired = snapshotOf(add([retired, counted]));
    },
    sum: () => add([...latest.values(), retired]),
  };
};

const add = (snapshots: readonly MetricsSnapshot[]): Registry =>
  loadAggregator().aggregate(snapshots.map((each) => each.map(asShown)));

/** Clients wait for the slowest process; prom-client would show the mean. */
const asShown = (metric: Metric): Metric =>
  metric.name.startsWith('nodejs_eventloop_lag') ? { ...metric, aggregator: 'max' } : metric;

/** The result of `aggregate` has only the values of a metric. */
const snapshotOf = (registry: Registry): MetricsSnapshot =>
  registry.getMetricsAsArray().map((metric) => (metric as unknown as { get(): Metric }).get());

export const takeSnapshot = async (registry: Registry): Promise<MetricsSnapshot> =>
  registry.getMetricsAsJSON();
