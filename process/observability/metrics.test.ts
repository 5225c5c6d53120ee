import { expect, test } from 'vitest';
import { createApp } from '#edge/http/app.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { createMetrics, startMetricsServer } from './metrics.ts';

const open = () => startMetricsServer(createMetrics(), { port: 0, host: '127.0.0.1' });

test('the metrics of the process are served in the text format of Prometheus', async () => {
  await using server = await open();
  const response = await fetch(`${server.url}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=/);
  expect(await response.text()).toContain('process_cpu_seconds_total');
});

test('there is nothing else on that port', async () => {
  await using server = await open();
  expect((await fetch(server.url)).status).toBe(404);
  expect((await fetch(`${server.url}/metrics`, { method: 'POST' })).status).toBe(405);
});

test('requests are counted by method and status', async () => {
  const metrics = createMetrics();
  await using server = await serve(createApp({ log: captureLog().log, metrics, routes: [] }));
  await (await fetch(`${server.url}/nowhere`)).text();
  await expect
    .poll(() => metrics.metrics())
    .toContain('annals_http_request_duration_seconds_count{method="GET",status="404"} 1');
});
