import { expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';
import { ConfigError } from '#process/read-settings.ts';
import { checkUrl } from './guard/check-url.ts';

const PRODUCTION = {
  NODE_ENV: 'production',
  MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUBLIC_URL: 'https://annals.example',
};

const isAllowed = (url: string, environment: Readonly<Record<string, string>>): boolean =>
  checkUrl(url, loadConfig(environment).webhooks.guard) === undefined;

test('development may send to the machine itself, at any port, and to no other private address', () => {
  for (const url of ['http://localhost:8080', 'http://127.0.0.1:1', 'http://[::1]:8080'])
    expect(isAllowed(url, {}), url).toBe(true);
  expect(isAllowed('http://10.0.0.1', {})).toBe(false);
});

test('production may send to ports 80 and 443 of public addresses only', () => {
  expect(isAllowed('https://example.com', PRODUCTION)).toBe(true);
  for (const url of ['http://localhost', 'http://127.0.0.1', 'https://example.com:8443'])
    expect(isAllowed(url, PRODUCTION), url).toBe(false);
});

test.each([
  [{ WEBHOOK_ALLOW_CIDRS: '10.1.0.0/16, fd00::1' }, 'http://10.1.2.3', true],
  [{ WEBHOOK_ALLOW_CIDRS: '10.1.0.0/16, fd00::1' }, 'http://[fd00::1]', true],
  [{ WEBHOOK_ALLOW_CIDRS: '10.1.0.0/16' }, 'http://127.0.0.1', false],
  [{ WEBHOOK_PORTS: '8443' }, 'https://example.com:8443', true],
  [{ WEBHOOK_PORTS: '8443' }, 'https://example.com', false],
  [{ WEBHOOK_PORTS: 'any' }, 'https://example.com:22', true],
  [{ WEBHOOK_ALLOW_CIDRS: 'none', NODE_ENV: 'development' }, 'http://localhost', false],
])('with %j, whether %s is allowed is %s', (settings, url, expected) => {
  expect(isAllowed(url, { ...PRODUCTION, ...settings })).toBe(expected);
});

test.each([
  ['WEBHOOK_ALLOW_CIDRS', 'localhost'],
  ['WEBHOOK_ALLOW_CIDRS', '10.0.0.0/8,'],
  ['WEBHOOK_ALLOW_CIDRS', 'none,10.0.0.0/8'],
  ['WEBHOOK_PORTS', '80,'],
  ['WEBHOOK_PORTS', '8.5'],
  ['WEBHOOK_PORTS', '65536'],
  ['WEBHOOK_RETRY_SCHEDULE', '-5'],
  ['WEBHOOK_RETRY_SCHEDULE', '1e9'],
  ['WEBHOOK_RETRY_SCHEDULE', '5;10'],
  ['WEBHOOK_DISABLE_AFTER_HOURS', 'five'],
])('%s must not be %s', (name, value) => {
  expect(() => loadConfig({ [name]: value })).toThrow(ConfigError);
});

test('times are in seconds and hours, as set', () => {
  const settings = {
    WEBHOOK_RETRY_SCHEDULE: '0.05,1, 60',
    WEBHOOK_DISABLE_AFTER_HOURS: '0.5',
    WEBHOOK_TIMEOUT_MS: '500',
  };
  expect(loadConfig(settings).webhooks).toMatchObject({
    retryDelaysMs: [50, 1_000, 60_000],
    disableAfterMs: 1_800_000,
    timeoutMs: 500,
  });
});
