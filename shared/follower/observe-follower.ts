import { Counter, Gauge, type Registry } from 'prom-client';
import { readCheckpoint } from './checkpoint.ts';
import type { FollowerOptions } from './follower.ts';

const BEHIND = 'annals_follower_behind';
const FAILURES = 'annals_follower_failures_total';

type Observed = Pick<FollowerOptions, 'name' | 'pool' | 'eventLog' | 'metrics'>;

/**
 * Tells how far each follower is behind the end of the log, as its checkpoint says: every process tells it of all its followers,
 * whoever owns them, so that one that stands still is seen. Answers with the counter of failures.
 */
export const observeFollower = (observed: Observed): Counter<'follower'> => {
  const { metrics } = observed;
  if (metrics.getSingleMetric(BEHIND)) observersIn(metrics).push(observed);
  else createGauge(observed);
  const known = metrics.getSingleMetric(FAILURES) as Counter<'follower'> | undefined;
  const help = 'How often a follower of the event log has failed and begun anew.';
  return known ?? new Counter({ name: FAILURES, help, labelNames: ['follower'], registers: [metrics] });
};

const observers = new WeakMap<Registry, Observed[]>();

const observersIn = (metrics: Registry): Observed[] => {
  const known = observers.get(metrics) ?? [];
  observers.set(metrics, known);
  return known;
};

const createGauge = (observed: Observed): void => {
  const all = observersIn(observed.metrics);
  all.push(observed);
  new Gauge({
    name: BEHIND,
    help: 'Positions between the checkpoint of a follower and the end of the event log; on EventStoreDB, bytes of its log.',
    labelNames: ['follower'],
    registers: [observed.metrics],
    async collect() {
      for (const { name, pool, eventLog } of all) {
        const [checkpoint, head] = await Promise.all([readCheckpoint(pool, name), eventLog.head()]);
        this.set({ follower: name }, Math.max(head - (checkpoint?.position ?? 0), 0));
      }
    },
  });
};
