// Over 200 lines, because it is one thing: the configuration, and its parsing.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import type { CorsOrigins } from '#edge/http/cors.ts';
import type { Listener } from '#edge/http/listen.ts';
import type { HttpLimits, TlsFiles } from '#edge/http/server.ts';
import type { LoadLimits } from '#edge/http/shed-load.ts';
import type { RatePolicy } from '#edge/rate-limit/rate-limit.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { parseRange } from '#shared/webhooks/guard/address.ts';
import type { GuardRules } from '#shared/webhooks/guard/check-url.ts';
import { settingText } from './setting-text.ts';
import { SETTINGS, type SettingName } from './settings.ts';

export type Config = {
  readonly environment: 'development' | 'production' | 'test';
  /** The number of processes in which `npm start` serves clients. */
  readonly workers: number;
  /** Among several installations that share users; undefined if it is the only one. */
  readonly cell: number | undefined;
  readonly http: Listener;
  readonly metrics: Listener;
  /** The command role’s listener for the other roles. */
  readonly internal: Listener;
  readonly commandUrls: readonly string[];
  readonly publicUrl: string;
  /** The `iss` of every token. */
  readonly issuerUrl: string;
  /** The address of the key set, for another process. */
  readonly jwksUrl: string;
  /** The role of users who sign up by themselves, or `off`; undefined means the default of the domain. */
  readonly signUp: string | undefined;
  /** Undefined means that no mail is sent. */
  readonly mail: MailSettings | undefined;
  /** The number of proxies in front of this process. */
  readonly trustProxy: number;
  /** Authenticates the ingress, which forwards the certificates of clients. */
  readonly ingressSecret: string | undefined;
  /** Files in PEM; undefined means plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** The web pages that may send cross-origin requests. */
  readonly corsOrigins: CorsOrigins;
  /** Whether applications may register themselves. */
  readonly registration: 'off' | 'on';
  readonly dpopNonce: 'offered' | 'required';
  /** Whether a change must state the version it changes. */
  readonly requireIfMatch: boolean;
  readonly dataDir: string;
  /** Undefined means the embedded server. */
  readonly databaseUrl: string | undefined;
  /** Of the same database without a pooler. */
  readonly databaseDirectUrl: string | undefined;
  /** Of streaming replicas, for reads of the read model. */
  readonly readDatabaseUrls: readonly string[];
  /** Undefined means the database. */
  readonly eventLogUrl: string | undefined;
  readonly eventLogPrefix: string;
  /** `postgres:` alone means following the log; otherwise a `kafka:` URL. */
  readonly changeStreamUrl: string;
  /** `postgres:` alone means the database. */
  readonly jobQueueUrl: string;
  /** A `file:` URL of a folder, or an `s3:` URL. */
  readonly blobUrl: string;
  /** Undefined means the one in the data folder, which production refuses. */
  readonly masterKey: string | undefined;
  readonly logLevel: z.output<typeof SETTINGS.LOG_LEVEL.schema>;
  /** Of requests that did not fail on the server; a terminal in development is for the developer's own lines. */
  readonly requestLogLevel: 'debug' | 'info';
  readonly tracing: TracingSettings;
  readonly limits: HttpLimits;
  readonly load: LoadLimits;
  readonly rateLimits: RateLimitSettings;
  readonly graphql: GraphqlSettings;
  readonly streams: StreamSettings;
  readonly webhooks: WebhookSettings;
  readonly audit: AuditSettings;
  readonly drainMs: number;
  /**
   * The part of `drainMs` in which requests are still accepted after the process has announced that it stops.
   */
  readonly drainNoticeMs: number;
};

/** Settings of the verification of the event log. */
export type AuditSettings = {
  readonly dir: string;
  readonly headEveryMs: number;
  readonly watchEventsPerSecond: number;
};

/** The mail server, and the sender of mail. */
type MailSettings = { readonly url: string; readonly from: string };

export type TracingSettings = {
  /** Of the collector; undefined means that there are no traces. */
  readonly endpoint: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string | undefined;
  /** The share of the traces beginning here that is recorded. */
  readonly ratio: number;
};

export type WebhookSettings = {
  readonly perOwnerMax: number;
  readonly guard: GuardRules;
  readonly timeoutMs: number;
  /** The delay after each failure; after the last of them there is no other attempt. */
  readonly retryDelaysMs: readonly number[];
  readonly disableAfterMs: number;
  /** The maximum of concurrent deliveries of a process. */
  readonly concurrency: number;
  readonly keepDays: number;
};

/** Streams of server-sent events. */
type StreamSettings = {
  readonly perOwnerMax: number;
  readonly heartbeatMs: number;
  readonly bufferBytesMax: number;
};

type RateLimitSettings = {
  /** `postgres:` alone means the database. */
  readonly url: string;
  /** For callers with a verified token. */
  readonly client: RatePolicy;
  /** For everybody else, by address. */
  readonly anonymous: RatePolicy;
};

export type GraphqlSettings = {
  readonly persistedDocuments: 'off' | 'apq' | 'prefer' | 'enforce';
  readonly introspection: boolean;
  /** Services as name=url, or a JSON file of them; undefined means none. */
  readonly compose: string | undefined;
  readonly limits: {
    readonly tokensMax: number;
    readonly depthMax: number;
    readonly aliasesMax: number;
    readonly directivesMax: number;
    readonly rootFieldsMax: number;
    readonly costMax: number;
  };
};

/** `EX_CONFIG` of sysexits.h: a restart without a change is useless. */
const EX_CONFIG = 78;

/** Missing or invalid settings, each in one sentence. */
export class ConfigError extends StartRefused {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'), { exitCode: EX_CONFIG });
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and checks all settings at once, so that one message lists every problem. */
export const loadConfig = (environment: Environment = process.env): Config => {
  const problems: string[] = [];
  const values = readSettings(environment, problems);
  if (values.NODE_ENV === 'production' && !environment.MASTER_KEY && !environment.MASTER_KEY_FILE)
    problems.push(MASTER_KEY_MISSING);
  if (values.NODE_ENV === 'production' && values.PUBLIC_URL === undefined) problems.push(PUBLIC_URL_MISSING);
  if ((values.TLS_CERT === undefined) !== (values.TLS_KEY === undefined)) problems.push(TLS_HALF);
  if (values.TLS_CLIENT_CA !== undefined && values.TLS_CERT === undefined) problems.push(TLS_CLIENT_CA_ALONE);
  if ((values.MAIL_URL === undefined) !== (values.MAIL_FROM === undefined)) problems.push(MAIL_HALF);
  if (values.DATABASE_DIRECT_URL !== undefined && values.DATABASE_URL === undefined)
    problems.push(DIRECT_ALONE);
  if (values.READ_DATABASE_URL !== undefined && values.DATABASE_URL === undefined) problems.push(READ_ALONE);
  if (problems.length > 0) throw new ConfigError(problems);
  return assemble(values);
};

const MASTER_KEY_MISSING =
  'MASTER_KEY is missing, and production does not generate one: set it to 32 random bytes in base64, made with `openssl rand -base64 32`, ' +
  'and keep a copy apart from the data, because personal fields cannot be read without it.';

const PUBLIC_URL_MISSING =
  'PUBLIC_URL is missing, and production does not guess it: set it to the https address by which clients know this installation, ' +
  'because every token contains it.';

const TLS_HALF = 'TLS_CERT and TLS_KEY go together: set both to PEM files, or neither.';
const DIRECT_ALONE = 'DATABASE_DIRECT_URL has no effect without DATABASE_URL: set both, or neither.';
const READ_ALONE =
  'READ_DATABASE_URL, the replicas of DATABASE_URL, has no effect without it: set both, or neither.';
const MAIL_HALF = 'MAIL_URL and MAIL_FROM go together: set both, or neither.';
const TLS_CLIENT_CA_ALONE =
  'TLS_CLIENT_CA has no effect without TLS_CERT and TLS_KEY: set them too, or let the ingress check certificates.';

type Values = {
  readonly [Name in SettingName]:
    | z.output<(typeof SETTINGS)[Name]['schema']>
    | Fallback<(typeof SETTINGS)[Name]>;
};
type Fallback<Setting> = Setting extends { fallback: string } ? never : undefined;

/**
 * An empty variable counts as unset, because compose files and shells pass unset variables on as empty ones.
 */
const readSettings = (environment: Environment, problems: string[]): Values => {
  const entries = (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const setting: (typeof SETTINGS)[SettingName] & { fallback?: string; secret?: boolean | 'path' } =
      SETTINGS[name];
    const { text: given, problem } = settingText(environment, name);
    if (problem !== undefined) problems.push(problem);
    const text = given ?? setting.fallback;
    const result = text === undefined ? undefined : setting.schema.safeParse(text);
    if (result?.success === false)
      problems.push(`${name} ${setting.secret ? '' : `is “${text}” and `}must be ${setting.expected}.`);
    return [name, result?.data] as const;
  });
  // Each value came from the schema of its name, which the compiler cannot see through `Object.fromEntries`.
  return Object.fromEntries(entries) as Values;
};

/** Longer than load balancers usually take to notice. */
const PRODUCTION_NOTICE_MS = 2_000;

const assemble = (values: Values): Config => ({
  environment: values.NODE_ENV,
  workers: values.WORKERS,
  cell: values.CELL,
  http: {
    port: values.PORT,
    host: values.HOST ?? (values.NODE_ENV === 'production' ? undefined : '127.0.0.1'),
  },
  metrics: { port: values.METRICS_PORT, host: values.METRICS_HOST },
  internal: { port: values.INTERNAL_PORT, host: values.INTERNAL_HOST },
  commandUrls: values.COMMAND_URL,
  publicUrl: values.PUBLIC_URL ?? defaultUrl(values),
  issuerUrl: issuerOf(values),
  jwksUrl: values.JWKS_URL ?? `${issuerOf(values)}/jwks`,
  signUp: values.SIGNUP ?? (values.NODE_ENV === 'production' ? 'off' : undefined),
  mail:
    values.MAIL_URL === undefined || values.MAIL_FROM === undefined
      ? undefined
      : { url: values.MAIL_URL, from: values.MAIL_FROM },
  trustProxy: values.TRUST_PROXY,
  ingressSecret: values.CLIENT_CERT_SECRET,
  tls: tlsOf(values),
  corsOrigins: values.CORS_ORIGINS ?? (values.NODE_ENV === 'production' ? new Set() : 'any'),
  registration: values.REGISTRATION,
  dpopNonce: values.DPOP_NONCE,
  requireIfMatch: values.REQUIRE_IF_MATCH === 'on',
  dataDir: resolve(values.DATA_DIR),
  databaseUrl: values.DATABASE_URL,
  databaseDirectUrl: values.DATABASE_DIRECT_URL,
  readDatabaseUrls: values.READ_DATABASE_URL ?? [],
  eventLogUrl: values.EVENT_LOG_URL,
  eventLogPrefix: values.EVENT_LOG_PREFIX,
  changeStreamUrl: values.CHANGE_STREAM_URL,
  jobQueueUrl: values.JOB_QUEUE_URL,
  blobUrl:
    values.BLOB_URL === 'file:' ? pathToFileURL(resolve(values.DATA_DIR, 'uploads')).href : values.BLOB_URL,
  masterKey: values.MASTER_KEY,
  logLevel: values.LOG_LEVEL,
  requestLogLevel: values.NODE_ENV === 'development' ? 'debug' : 'info',
  tracing: tracingOf(values),
  limits: httpLimitsOf(values),
  load: loadLimitsOf(values),
  rateLimits: rateLimitsOf(values),
  graphql: graphqlOf(values),
  streams: {
    perOwnerMax: values.STREAMS_PER_OWNER_MAX,
    heartbeatMs: values.STREAM_HEARTBEAT_MS,
    bufferBytesMax: values.STREAM_BUFFER_BYTES_MAX,
  },
  webhooks: webhooksOf(values),
  audit: {
    dir: resolve(values.AUDIT_DIR ?? join(values.DATA_DIR, 'audit')),
    headEveryMs: values.AUDIT_HEAD_EVERY_MS,
    watchEventsPerSecond: values.AUDIT_WATCH_EVENTS_PER_SECOND,
  },
  drainMs: values.DRAIN_MS,
  drainNoticeMs: Math.min(
    values.DRAIN_NOTICE_MS ?? (values.NODE_ENV === 'production' ? PRODUCTION_NOTICE_MS : 0),
    values.DRAIN_MS / 2,
  ),
});

const httpLimitsOf = (values: Values): HttpLimits => ({
  bodyBytesMax: values.BODY_BYTES_MAX,
  headerBytesMax: values.HEADER_BYTES_MAX,
  headersTimeoutMs: values.HEADERS_TIMEOUT_MS,
  requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
  connectionsMax: values.CONNECTIONS_MAX,
});

const loadLimitsOf = (values: Values): LoadLimits => ({
  requestsMax: values.REQUESTS_MAX,
  lagMaxMs: values.EVENT_LOOP_LAG_MAX_MS,
  clientBytesMax: values.CLIENT_BYTES_MAX,
  bodyBytesMax: values.BODY_BYTES_MAX,
  stalledMaxMs: values.REQUEST_TIMEOUT_MS,
});

const rateLimitsOf = (values: Values): RateLimitSettings => ({
  url: values.RATE_LIMIT_URL,
  client: { name: 'default', unitsPerSecond: values.RATE_LIMIT, burst: values.RATE_LIMIT_BURST },
  anonymous: {
    name: 'anonymous',
    unitsPerSecond: values.RATE_LIMIT_ANONYMOUS,
    burst: values.RATE_LIMIT_ANONYMOUS_BURST,
  },
});

const tracingOf = (values: Values): TracingSettings => ({
  endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
  headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
  serviceName: values.OTEL_SERVICE_NAME,
  ratio: values.OTEL_TRACES_SAMPLER_ARG ?? (values.NODE_ENV === 'production' ? 0.1 : 1),
});

const webhooksOf = (values: Values): WebhookSettings => {
  const isProduction = values.NODE_ENV === 'production';
  const loopback = ['127.0.0.0/8', '::1'].flatMap((text) => parseRange(text) ?? []);
  const ports = values.WEBHOOK_PORTS ?? (isProduction ? [80, 443] : 'any');
  return {
    guard: {
      allowed: values.WEBHOOK_ALLOW_CIDRS ?? (isProduction ? [] : loopback),
      ports: ports === 'any' ? ports : new Set(ports),
    },
    perOwnerMax: values.WEBHOOKS_PER_OWNER_MAX,
    timeoutMs: values.WEBHOOK_TIMEOUT_MS,
    retryDelaysMs: values.WEBHOOK_RETRY_SCHEDULE.map((seconds) => seconds * 1_000),
    disableAfterMs: values.WEBHOOK_DISABLE_AFTER_HOURS * 3_600_000,
    concurrency: values.WEBHOOK_CONCURRENCY,
    keepDays: values.WEBHOOK_KEEP_DAYS,
  };
};

const graphqlOf = (values: Values): GraphqlSettings => ({
  persistedDocuments: values.PERSISTED_DOCUMENTS,
  introspection:
    values.INTROSPECTION === undefined ? values.NODE_ENV !== 'production' : values.INTROSPECTION === 'on',
  compose: values.GRAPHQL_COMPOSE,
  limits: {
    tokensMax: values.GRAPHQL_TOKENS_MAX,
    depthMax: values.GRAPHQL_DEPTH_MAX,
    aliasesMax: values.GRAPHQL_ALIASES_MAX,
    directivesMax: values.GRAPHQL_DIRECTIVES_MAX,
    rootFieldsMax: values.GRAPHQL_ROOT_FIELDS_MAX,
    costMax: values.GRAPHQL_COST_MAX,
  },
});

const defaultUrl = ({ PORT, TLS_CERT }: Values): string =>
  `${TLS_CERT === undefined ? 'http' : 'https'}://localhost:${PORT}`;

const issuerOf = (values: Values): string =>
  values.ISSUER_URL ?? new URL(values.PUBLIC_URL ?? defaultUrl(values)).origin;

const tlsOf = ({ TLS_CERT, TLS_KEY, TLS_CLIENT_CA }: Values): TlsFiles | undefined =>
  TLS_CERT === undefined || TLS_KEY === undefined
    ? undefined
    : { certFile: TLS_CERT, keyFile: TLS_KEY, clientCaFile: TLS_CLIENT_CA };
