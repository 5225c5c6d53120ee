import { createRequire } from 'node:module';
import type * as prometheus from 'prom-client';

// The modules of `prom-client` that we use. Its index also loads what reads and sends metrics of others, and
// OpenTelemetry for exemplars, which is more code than everything else in it.

const load = createRequire(import.meta.url);

export const Counter = load('prom-client/lib/counter.js') as typeof prometheus.Counter;
export type Counter<Label extends string = string> = prometheus.Counter<Label>;

export const Gauge = load('prom-client/lib/gauge.js') as typeof prometheus.Gauge;
export type Gauge<Label extends string = string> = prometheus.Gauge<Label>;

export const Histogram = load('prom-client/lib/histogram.js') as typeof prometheus.Histogram;
export type Histogram<Label extends string = string> = prometheus.Histogram<Label>;

export const Registry = load('prom-client/lib/registry.js') as typeof prometheus.Registry;
export type Registry = prometheus.Registry;

/** Adds the metrics of several registries. */
export const loadAggregator = (): typeof prometheus.AggregatorRegistry => load('prom-client/lib/cluster.js');

type Collect = (registry: Registry, options: { readonly eventLoopMonitoringPrecision: number }) => void;

/** In the order of the package, without its use of the processor. */
const OF_NODE: readonly string[] = [
  'processStartTime',
  'osMemoryHeap',
  'processOpenFileDescriptors',
  'processMaxFileDescriptors',
  'eventLoopLag',
  'processResources',
  'processHandles',
  'processRequests',
  'heapSizeAndUsed',
  'heapSpacesSizeAndUsed',
  'version',
  'gc',
];

/** The default metrics of the package. */
export const collectDefaultMetrics: Collect = (registry, options) => {
  collectProcessorTime(registry);
  for (const name of OF_NODE) (load(`prom-client/lib/metrics/${name}.js`) as Collect)(registry, options);
};

const MICROSECONDS = 1e6;

/** As in the package, where it is the only metric with exemplars. */
const collectProcessorTime = (registry: Registry): void => {
  const registers = [registry];
  let before = process.cpuUsage();
  const ofUser = new Counter({
    name: 'process_cpu_user_seconds_total',
    help: 'Total user CPU time spent in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      const [ofUserS, ofSystemS] = [
        (user - before.user) / MICROSECONDS,
        (system - before.system) / MICROSECONDS,
      ];
      before = { user, system };
      ofUser.inc(ofUserS);
      ofSystem.inc(ofSystemS);
      both.inc(ofUserS + ofSystemS);
    },
  });
  const ofSystem = new Counter({
    name: 'process_cpu_system_seconds_total',
    help: 'Total system CPU time spent in seconds.',
    registers,
  });
  const both = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
  });
};
