// Over 200 lines, because one of its tables has a line for each setting.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';
import { ConfigError } from './read-settings.ts';
import { SETTINGS, type SettingName, settingsTable } from './settings.ts';

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

const KEY = Buffer.alloc(32, 7).toString('base64');

test('without any setting there is a development configuration', () => {
  const config = loadConfig({});
  expect(config).toMatchObject({
    environment: 'development',
    http: { port: 4000, host: '127.0.0.1' },
    metrics: { port: 9464, host: '127.0.0.1' },
    publicUrl: 'http://localhost:4000',
    databaseUrl: undefined,
    databaseDirectUrl: undefined,
    eventLogUrl: undefined,
    masterKey: undefined,
    limits: {
      bodyBytesMax: 1_048_576,
      headerBytesMax: 32_768,
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 30_000,
    },
    drainMs: 10_000,
  });
  expect(config.dataDir).toBe(`${process.cwd()}/.data`);
});

test('an empty setting counts as unset', () => {
  expect(loadConfig({ PORT: '', DATABASE_URL: '' })).toEqual({
    ...loadConfig({}),
    ownSetting: expect.any(Function),
  });
});

test('a secret can come from a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-secrets-'));
  try {
    const path = join(folder, 'master_key');
    await writeFile(path, `${KEY}\n`);
    const environment = { NODE_ENV: 'production', PUBLIC_URL: 'https://annals.example' };
    expect(loadConfig({ ...environment, MASTER_KEY_FILE: path }).masterKey).toBe(KEY);
    expect(problemsOf({ ...environment, MASTER_KEY: KEY, MASTER_KEY_FILE: path })).toEqual([
      'MASTER_KEY and MASTER_KEY_FILE are both set: set one of them.',
    ]);
    expect(problemsOf({ DATABASE_URL_FILE: join(folder, 'none') })).toEqual([
      expect.stringMatching(/^DATABASE_URL_FILE names .*ENOENT/),
    ]);
    await writeFile(path, '\n');
    expect(problemsOf({ MASTER_KEY_FILE: path })).toEqual([`MASTER_KEY_FILE names ${path}, which is empty.`]);
    await writeFile(path, 'too short');
    expect(problemsOf({ MASTER_KEY_FILE: path })).toEqual([
      expect.stringMatching(/^MASTER_KEY must be 32 random bytes/),
    ]);
    expect(loadConfig({ PORT_FILE: path }).http.port).toBe(4000);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('production listens on all addresses, but for metrics and internal requests only on the loopback one', () => {
  const { http, metrics, internal } = loadConfig({
    NODE_ENV: 'production',
    MASTER_KEY: KEY,
    PUBLIC_URL: 'https://annals.example',
  });
  expect(http.host).toBeUndefined();
  expect([metrics.host, internal.host]).toEqual(['127.0.0.1', '127.0.0.1']);
});

test('production refuses to start without a master key and explains how to create one', () => {
  const [problem, ...others] = problemsOf({ NODE_ENV: 'production', PUBLIC_URL: 'https://annals.example' });
  expect(problem).toMatch(/^MASTER_KEY is missing.*openssl rand -base64 32/);
  expect(others).toEqual([]);
});

test('production refuses to start without its public address', () => {
  expect(problemsOf({ NODE_ENV: 'production', MASTER_KEY: KEY })).toEqual([
    expect.stringMatching(/^PUBLIC_URL is missing.*https/),
  ]);
});

test.each([
  [undefined, 'development', 'any'],
  [undefined, 'production', new Set()],
  ['any', 'production', 'any'],
  ['none', 'development', new Set()],
  [
    'https://a.example, http://localhost:5173',
    'production',
    new Set(['https://a.example', 'http://localhost:5173']),
  ],
])('CORS_ORIGINS %j in %s is %j', (CORS_ORIGINS, NODE_ENV, expected) => {
  const environment = { NODE_ENV, MASTER_KEY: KEY, PUBLIC_URL: 'https://annals.example' };
  expect(
    loadConfig(CORS_ORIGINS === undefined ? environment : { ...environment, CORS_ORIGINS }).corsOrigins,
  ).toEqual(expected);
});

test.each(['https://a.example/', 'a.example', 'https://a.example,any', 'https://A.example', '*', 'null'])(
  'no origin is %s',
  (origin) => {
    expect(problemsOf({ CORS_ORIGINS: origin })).toEqual([
      expect.stringMatching(/^CORS_ORIGINS is .* must be any, none, or origins/),
    ]);
  },
);

test('all invalid settings are reported at once, each in a sentence', () => {
  expect(problemsOf({ PORT: 'abc', LOG_LEVEL: 'loud' })).toEqual([
    'PORT is “abc” and must be a port number from 0 to 65535, where 0 takes any free one.',
    'LOG_LEVEL is “loud” and must be trace, debug, info, warn, error, fatal, or silent.',
  ]);
});

/** For each setting that can be invalid, an invalid value. */
const WRONG: Partial<Record<SettingName, string>> = {
  MAIL_URL: 'mail.example:587',
  MAIL_FROM: 'nobody',
  NODE_ENV: 'prod',
  EVENT_LOG_PREFIX: 'Shop.one',
  READ_DATABASE_URL: 'postgres://hunter2@one,two',
  WORKERS: '0',
  CELL: '128',
  PORT: '65536',
  HOST: 'a b',
  PUBLIC_URL: 'annals.example',
  ISSUER_URL: 'https://annals.example/auth',
  JWKS_URL: 'annals.example/jwks',
  BLOB_URL: 'uploads',
  REQUIRE_IF_MATCH: 'yes',
  PERSISTED_DOCUMENTS: 'some',
  INTROSPECTION: 'yes',
  GRAPHQL_TOKENS_MAX: '0',
  GRAPHQL_DEPTH_MAX: '-1',
  GRAPHQL_ALIASES_MAX: 'many',
  GRAPHQL_DIRECTIVES_MAX: '1.5',
  GRAPHQL_ROOT_FIELDS_MAX: '0',
  GRAPHQL_COST_MAX: '1e3',
  GRAPHQL_COMPOSE: 'hunter2',
  TRUST_PROXY: 'yes',
  CLIENT_CERT_SECRET: 'short',
  TLS_CERT: '-----BEGIN CERTIFICATE-----',
  TLS_KEY: '-----BEGIN hunter2-----',
  TLS_CLIENT_CA: '-----BEGIN CERTIFICATE-----',
  DPOP_NONCE: 'always',
  OAUTH_PROFILE: 'fapi-1.0',
  CORS_ORIGINS: 'everywhere',
  CLIENT_DOCUMENTS: 'everywhere',
  UPSTREAMS: '[{"name":"hunter2"}]',
  SIGNUP: 'admin',
  REGISTRATION: 'yes',
  DOMAIN_FILE: 'domain',
  METRICS_PORT: '-1',
  METRICS_HOST: '/tmp/socket',
  AUDIT_TREE: 'secret',
  AUDIT_TREE_URL: 'https://tree.example',
  AUDIT_HEAD_EVERY_MS: '10',
  AUDIT_WATCH_EVENTS_PER_SECOND: 'all',
  AUDIT_WITNESSES: 'https://witness.example',
  AUDIT_TSA_URL: 'ldap://tsa.example',
  AUDIT_TSA_EVERY_MS: '10',
  CLOCK_SOURCE: 'Zeit für alle',
  DATABASE_URL: 'mysql://root:hunter2@db/annals',
  DATABASE_DIRECT_URL: 'mysql://root:hunter2@db/annals',
  EVENT_LOG_URL: 'redis://:hunter2@db',
  CHANGE_STREAM_URL: 'kafka://user:hunter2@broker',
  MASTER_KEY: 'hunter2',
  INTERNAL_PORT: '4100.5',
  INTERNAL_HOST: ' ',
  COMMAND_URL: 'ftp://command',
  RATE_LIMIT_URL: 'memcached://:hunter2@cache',
  RATE_LIMIT: '0',
  RATE_LIMIT_BURST: '1e3',
  RATE_LIMIT_ANONYMOUS: '-1',
  RATE_LIMIT_ANONYMOUS_BURST: '2000000',
  LOG_LEVEL: 'INFO',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:hunter2@collector:4318',
  OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a,hunter2',
  OTEL_SERVICE_NAME: 'an nals',
  OTEL_TRACES_SAMPLER_ARG: '1.5',
  BODY_BYTES_MAX: '0',
  HEADER_BYTES_MAX: '8k',
  HEADERS_TIMEOUT_MS: '1e4',
  REQUEST_TIMEOUT_MS: '-5',
  CONNECTIONS_MAX: 'many',
  DRAIN_NOTICE_MS: '-1',
  REQUESTS_MAX: '0',
  CLIENT_BYTES_MAX: '256MiB',
  EVENT_LOOP_LAG_MAX_MS: 'late',
  STREAMS_PER_OWNER_MAX: '0',
  STREAM_HEARTBEAT_MS: '99',
  STREAM_BUFFER_BYTES_MAX: '1MiB',
  JOB_QUEUE_URL: 'amqp://:hunter2@queue',
  WEBHOOK_ALLOW_CIDRS: '10.0.0.0/33',
  WEBHOOK_PORTS: '80,0',
  WEBHOOK_CONCURRENCY: '0',
  WEBHOOK_TIMEOUT_MS: '15s',
  WEBHOOK_RETRY_SCHEDULE: '5,soon',
  WEBHOOK_DISABLE_AFTER_HOURS: '-1',
  WEBHOOK_KEEP_DAYS: '0',
  READ_LOG_KEEP_DAYS: '0',
  WEBHOOKS_PER_OWNER_MAX: '-1',
  DRAIN_MS: '10s',
};

test.each(
  (Object.keys(SETTINGS) as SettingName[]).filter((name) => !['DATA_DIR', 'AUDIT_DIR'].includes(name)),
)('%s is refused by its name when it is wrong', (name) => {
  const problems = problemsOf({ [name]: WRONG[name] ?? '' });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${name} .*must be .*\\.$`));
});

test.each([
  'MASTER_KEY',
  'TLS_KEY',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'EVENT_LOG_URL',
  'CHANGE_STREAM_URL',
  'RATE_LIMIT_URL',
  'UPSTREAMS',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const)('no message repeats the value of %s', (name) => {
  expect(problemsOf({ [name]: WRONG[name] ?? '' }).join()).not.toContain('hunter2');
});

test.each(['postgres://a@h/d', 'postgresql://h', 'esdb://a:2113,b:2113,c:2113?tls=false'])(
  'the event log may be %s',
  (url) => {
    expect(loadConfig({ EVENT_LOG_URL: url }).eventLogUrl).toBe(url);
  },
);

test.each(['memory:', 'postgres:', 'postgres://a@h/d', 'redis://:secret@h:6379/1', 'rediss://h'])(
  'rate limits may be kept at %s',
  (url) => {
    expect(loadConfig({ RATE_LIMIT_URL: url }).rateLimits.url).toBe(url);
  },
);

test('clients with a token get 100 units per second and a burst of 2,000, addresses 20 and 500', () => {
  expect(loadConfig({}).rateLimits).toEqual({
    url: 'memory:',
    client: { name: 'default', unitsPerSecond: 100, burst: 2_000 },
    anonymous: { name: 'anonymous', unitsPerSecond: 20, burst: 500 },
  });
});

test.each([
  [{ TLS_CERT: 'cert.pem' }, 'TLS_CERT and TLS_KEY go together'],
  [{ OAUTH_PROFILE: 'fapi-2.0', REGISTRATION: 'on' }, 'leave REGISTRATION off'],
  [{ OAUTH_PROFILE: 'fapi-2.0', CLIENT_DOCUMENTS: 'any' }, 'and CLIENT_DOCUMENTS none'],
  [{ TLS_CLIENT_CA: 'ca.pem' }, 'TLS_CLIENT_CA has no effect without'],
])('%j is only half of it', (environment, problem) => {
  expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)]);
});

test('the issuer defaults to the origin of the public URL', () => {
  expect(loadConfig({ PUBLIC_URL: 'https://annals.example/api' }).issuerUrl).toBe('https://annals.example');
  expect(loadConfig({ ISSUER_URL: 'https://auth.example/' }).issuerUrl).toBe('https://auth.example');
  expect(loadConfig({ TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' }).issuerUrl).toBe('https://localhost:4000');
});

test('the key set is read from the issuer unless another address is set', () => {
  expect(loadConfig({ PUBLIC_URL: 'https://annals.example/api' }).jwksUrl).toBe(
    'https://annals.example/jwks',
  );
  expect(loadConfig({ ISSUER_URL: 'https://a.example', JWKS_URL: 'http://auth:4000/jwks' }).jwksUrl).toBe(
    'http://auth:4000/jwks',
  );
});

test('the public URL loses its trailing slash', () => {
  expect(loadConfig({ PUBLIC_URL: 'https://annals.example/' }).publicUrl).toBe('https://annals.example');
});

test('the table has one row per setting', () => {
  const lines = settingsTable().split('\n');
  expect(lines).toHaveLength(Object.keys(SETTINGS).length + 2);
  for (const line of lines) expect(line).toMatch(/^\|([^|]+\|){3}$/);
  expect(settingsTable()).not.toContain('undefined');
});
