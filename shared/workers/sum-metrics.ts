import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

/** The metrics of a process as another one takes them. */
export type MetricsSnapshot = readonly Metric[];
type Metric = MetricObjectWithValues<MetricValue<string>>;

export type MetricsSum = {
  /** Replaces what a process has said before. */
  keep(who: string, snapshot: MetricsSnapshot): void;
  /** Of a process that has ended: what it has counted stays in the sum, and its gauges go. */
  retire(who: string): void;
  sum(): Registry;
};

/** A counter that goes down is taken for one that began anew, and all of the sum for an increase. */
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
  AggregatorRegistry.aggregate(snapshots.map((each) => each.map(asShown)));

/** The slowest process is what somebody waits for; prom-client would show the mean. */
const asShown = (metric: Metric): Metric =>
  metric.name.startsWith('nodejs_eventloop_lag') ? { ...metric, aggregator: 'max' } : metric;

/** What `aggregate` returns has no more of a metric than its values. */
const snapshotOf = (registry: Registry): MetricsSnapshot =>
  registry.getMetricsAsArray().map((metric) => (metric as unknown as { get(): Metric }).get());

export const takeSnapshot = async (registry: Registry): Promise<MetricsSnapshot> =>
  registry.getMetricsAsJSON();
