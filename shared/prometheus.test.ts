import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { collectDefaultMetrics as ofPackage, Registry as RegistryOfPackage } from 'prom-client';
import { expect, test } from 'vitest';
import { collectDefaultMetrics, Registry } from './prometheus.ts';

const LAG_EVERY = { eventLoopMonitoringPrecision: 100 };

test('the metrics of Node are the default metrics of the package', () => {
  const [ours, theirs] = [new Registry(), new RegistryOfPackage()];
  collectDefaultMetrics(ours, LAG_EVERY);
  ofPackage({ register: theirs, ...LAG_EVERY });
  const described = (registry: Registry) =>
    registry.getMetricsAsArray().map((metric) => {
      const { name, help, type } = metric as unknown as Readonly<Record<'name' | 'help' | 'type', string>>;
      return { name, help, type: type ?? metric.constructor.name };
    });
  expect(described(ours)).toEqual(described(theirs));
});

test('the processor time of the process is counted from its registry on', async () => {
  const registry = new Registry();
  const before = process.cpuUsage();
  collectDefaultMetrics(registry, LAG_EVERY);
  const seconds = async (name: string): Promise<number> => {
    const found = (await registry.getMetricsAsJSON()).find((metric) => metric.name === name);
    return (found as unknown as { values: { value: number }[] }).values[0]?.value ?? Number.NaN;
  };
  for (let n = 0; n < 1e6; n += 1) Math.sqrt(n);
  await registry.metrics();
  const user = await seconds('process_cpu_user_seconds_total');
  const spent = process.cpuUsage(before);
  expect(user).toBeGreaterThan(0);
  expect(user).toBeLessThanOrEqual(spent.user / 1e6);
  const both = await seconds('process_cpu_seconds_total');
  expect(both).toBeGreaterThanOrEqual(user);
  expect(both).toBeLessThanOrEqual((process.cpuUsage(before).user + process.cpuUsage(before).system) / 1e6);
});

test('OpenTelemetry is not loaded for metrics', async () => {
  const script = `
    import { createRequire } from 'node:module';
    await import('./process/observability/metrics.ts').then(({ createMetrics }) => createMetrics().metrics());
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify(loaded.filter((path) => /opentelemetry|pushgateway|bintrees/.test(path))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '..'),
  });
  expect(JSON.parse(stdout)).toEqual([]);
});
