import { expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';

const PRODUCTION = {
  NODE_ENV: 'production',
  MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUBLIC_URL: 'https://annals.example',
};

test('without a collector there are no traces', () => {
  expect(loadConfig({}).tracing).toEqual({
    endpoint: undefined,
    headers: {},
    serviceName: undefined,
    ratio: 1,
  });
});

test('production records a tenth of the traces that begin there by default', () => {
  expect(loadConfig(PRODUCTION).tracing.ratio).toBe(0.1);
  expect(loadConfig({ ...PRODUCTION, OTEL_TRACES_SAMPLER_ARG: '1' }).tracing.ratio).toBe(1);
  expect(loadConfig({ OTEL_TRACES_SAMPLER_ARG: '0' }).tracing.ratio).toBe(0);
});

test('headers are read as OpenTelemetry writes them', () => {
  const { headers } = loadConfig({
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi, x-empty=,x-more=a=b%2C',
  }).tracing;
  expect(headers).toEqual({ authorization: 'Basic YTpi', 'x-empty': '', 'x-more': 'a=b,' });
});
