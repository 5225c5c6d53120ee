import { orUnknown } from '#shared/follower/observe-follower.ts';
import { Gauge, type Registry } from '#shared/prometheus.ts';

type Metric = { readonly name: string; readonly help: string };

/** A gauge that is computed at each scrape. */
export const gauge = (metrics: Registry, metric: Metric, ask: () => Promise<number>): void => {
  new Gauge({
    ...metric,
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(ask));
    },
  });
};
