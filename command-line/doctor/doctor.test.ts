import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callLine } from '../../test/engines/call-line.ts';

const DATA_DIR = join(tmpdir(), `annals-doctor-${process.pid}-absent`);
/** Ports that nothing uses. */
const QUIET = { DATA_DIR, PORT: '0', METRICS_PORT: '0', PUBLIC_URL: 'http://localhost:1' };

const examine = async (settings: Record<string, string> = {}) => {
  const { exit, lines, complaint } = await callLine({ ...QUIET, ...settings }, ['doctor', '--json']);
  return {
    exit,
    complaint,
    found: lines.map(
      (line) => JSON.parse(line) as { check: string; outcome: string; says: string; remedy?: string },
    ),
  };
};

test('a machine that has never started Annals is fine, and the check makes nothing', async () => {
  const { exit, found } = await examine();
  expect(exit).toBe(0);
  expect(found.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
  expect(found).toContainEqual({
    check: 'database',
    outcome: 'ok',
    says: `There is no data in ${DATA_DIR} yet: npm start creates it.`,
  });
  expect(existsSync(DATA_DIR)).toBe(false);
});

test('people get a line for each finding, with the remedy below', async () => {
  const { lines } = await callLine({ ...QUIET, DATABSE_URL: 'x' }, ['doctor']);
  const text = lines.join('\n');
  expect(text).toMatch(/^ok {4}node {8}Node \d+/m);
  expect(text).toMatch(
    /^WARN {2}settings {4}DATABSE_URL is not a setting of Annals\.\n +→ if you mean DATABASE_URL, set that instead\.$/m,
  );
  expect(text).toMatch(/\d+ findings: 0 failures, \d+ warnings?\.$/);
  expect(text).not.toContain('\u001b');
});

test.each<[string, Record<string, string>, string, string]>([
  ['a setting that cannot be read', { PORT: 'four' }, 'settings', 'PORT is “four”'],
  [
    'a database that does not answer',
    { DATABASE_URL: 'postgres://annals@127.0.0.1:1/annals' },
    'database',
    'No PostgreSQL answers at 127.0.0.1:1',
  ],
  [
    'a Kafka that does not answer',
    { CHANGE_STREAM_URL: 'kafka://127.0.0.1:1' },
    'engines',
    'Nothing answers at 127.0.0.1:1, the Kafka',
  ],
  [
    'a Redis that does not answer',
    { JOB_QUEUE_URL: 'redis://127.0.0.1:1' },
    'engines',
    'Nothing answers at 127.0.0.1:1, the Redis of JOB_QUEUE_URL',
  ],
  [
    'a certificate that is not there',
    { TLS_CERT: '/nowhere/cert.pem', TLS_KEY: '/nowhere/key.pem' },
    'certificate',
    'TLS_CERT or TLS_KEY cannot be used',
  ],
])('%s fails, and the exit code says so', async (_, settings, check, says) => {
  const { exit, found, complaint } = await examine(settings);
  expect(found).toContainEqual(
    expect.objectContaining({ check, outcome: 'fail', says: expect.stringContaining(says) }),
  );
  expect({ exit, complaint }).toEqual({ exit: 1, complaint: expect.stringMatching(/\d+ findings?: [1-9]/) });
});

test.each<[Record<string, string>, string]>([
  [
    { PUBLIC_URL: 'https://annals.example' },
    'NODE_ENV is not production, but PUBLIC_URL is not on this machine.',
  ],
  [
    { PUBLIC_URL: 'https://localhost:1' },
    'PUBLIC_URL is https, this process speaks http, and TRUST_PROXY is 0.',
  ],
  [{ ISSUER_URL: 'http://auth.localhost' }, 'ISSUER_URL has another origin than PUBLIC_URL.'],
])('%j gives a warning', async (settings, says) => {
  const { found } = await examine(settings);
  expect(found).toContainEqual(expect.objectContaining({ check: 'settings', outcome: 'warn', says }));
});

test('a port in use by another program fails, with a remedy', async () => {
  await using server = await strangers();
  const { exit, found } = await examine({ PORT: server.port, PUBLIC_URL: `http://127.0.0.1:${server.port}` });
  expect(exit).toBe(1);
  expect(found).toContainEqual({
    check: 'ports',
    outcome: 'fail',
    says: `Another program uses port ${server.port} (PORT).`,
    remedy: 'stop that program, or set PORT to another port.',
  });
  expect(found).toContainEqual(
    expect.objectContaining({
      check: 'address',
      outcome: 'fail',
      says: expect.stringContaining('is not Annals (status 200)'),
    }),
  );
});

const strangers = async () => {
  const server = createServer((_request, response) => response.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: String((server.address() as AddressInfo).port),
    [Symbol.asyncDispose]: async () => void server.close().closeAllConnections(),
  };
};
