import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createMetricsSum, takeSnapshot } from './sum-metrics.ts';

const metricsOf = ({
  requests,
  open,
  behind,
}: Readonly<Record<'requests' | 'open' | 'behind', number>>): Registry => {
  const registers = [new Registry()];
  new Counter({ name: 'requests_total', help: 'Requests.', labelNames: ['status'], registers }).inc(
    { status: '200' },
    requests,
  );
  const took = new Histogram({ name: 'took_seconds', help: 'Took.', buckets: [1], registers });
  for (let index = 0; index < requests; index += 1) took.observe(0.5);
  new Gauge({ name: 'open', help: 'Open.', registers }).set(open);
  new Gauge({ name: 'behind', help: 'Behind.', aggregator: 'max', registers }).set(behind);
  return registers[0] as Registry;
};

const shown = async (registry: Registry): Promise<readonly string[]> =>
  (await registry.metrics()).split('\n').filter((line) => /^\w/.test(line) && !line.includes('_sum'));

test('counters and gauges of all processes are added, except those that describe a shared thing', async () => {
  const sum = createMetricsSum();
  sum.keep('one', await takeSnapshot(metricsOf({ requests: 2, open: 3, behind: 7 })));
  sum.keep('two', await takeSnapshot(metricsOf({ requests: 1, open: 1, behind: 7 })));
  expect(await shown(sum.sum())).toEqual([
    'requests_total{status="200"} 3',
    'took_seconds_bucket{le="1"} 3',
    'took_seconds_bucket{le="+Inf"} 3',
    'took_seconds_count 3',
    'open 4',
    'behind 7',
  ]);
});

test('the counters of a process stay when it ends, and its gauges are removed', async () => {
  const sum = createMetricsSum();
  for (const who of ['one', 'two', 'three']) {
    sum.keep(who, await takeSnapshot(metricsOf({ requests: 2, open: 3, behind: 7 })));
    sum.retire(who);
  }
  sum.retire('never seen');
  sum.keep('four', await takeSnapshot(metricsOf({ requests: 1, open: 1, behind: 0 })));
  expect(await shown(sum.sum())).toEqual([
    'requests_total{status="200"} 7',
    'took_seconds_bucket{le="1"} 7',
    'took_seconds_bucket{le="+Inf"} 7',
    'took_seconds_count 7',
    'open 1',
    'behind 0',
  ]);
});
