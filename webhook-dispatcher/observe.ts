import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { Counter, Gauge, Histogram, type Registry } from '#shared/prometheus.ts';
import { countDue } from '#shared/webhooks/counts.ts';
import type { AttemptResult, Delivery } from './deliver/delivery.ts';

export type DeliveryObserver = {
  sent(delivery: Delivery, result: AttemptResult): void;
};

type Observed = { readonly metrics: Registry; readonly pool: Pool; readonly clock: Clock; running(): number };

const DURATION_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const LATENCY_SECONDS = [0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5, 30, 300];

/** Reports deliveries as metrics, without destinations, addresses or owners. */
export const observeDeliveries = ({ metrics, pool, clock, running }: Observed): DeliveryObserver => {
  const shared = { registers: [metrics] };
  const attempts = new Counter({
    ...shared,
    name: 'annals_webhook_attempts_total',
    help: 'Delivery attempts to webhooks, by outcome: delivered, due again, dead, or withheld.',
    labelNames: ['outcome'],
  });
  const durations = new Histogram({
    ...shared,
    name: 'annals_webhook_attempt_seconds',
    help: 'The response time of webhook receivers.',
    buckets: DURATION_SECONDS,
  });
  const latencies = new Histogram({
    ...shared,
    name: 'annals_webhook_latency_seconds',
    help: 'The time from the event to its delivery, if the first attempt succeeded.',
    buckets: LATENCY_SECONDS,
  });
  new Gauge({
    ...shared,
    name: 'annals_webhook_runs',
    help: 'Webhooks that this process is sending to now.',
    collect() {
      this.set(running());
    },
  });
  new Gauge({
    ...shared,
    name: 'annals_webhook_due',
    help: 'Deliveries to enabled webhooks that wait for their first or next attempt, in all processes; counted up to 100,000.',
    async collect() {
      // If the database does not answer, this metric is unknown, and the others are reported.
      this.set(await countDue(pool).catch(() => Number.NaN));
    },
  });
  return {
    sent({ attempts: before, change }, { attempt, outcome }) {
      attempts.inc({ outcome: outcome.state });
      if (attempt) durations.observe(attempt.durationMs / 1_000);
      if (before === 0 && outcome.state === 'delivered')
        latencies.observe(Math.max(0, clock.nowMs() - Date.parse(change.at)) / 1_000);
    },
  };
};
