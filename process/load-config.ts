// Over 200 lines, because it is one record: every setting in the form that the roles take.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HttpLimits } from '#edge/http/server.ts';
import type { LoadLimits } from '#edge/http/shed-load.ts';
import type { TlsFiles } from '#edge/http/tls-files.ts';
import { parseRange } from '#shared/webhooks/guard/address.ts';
import type {
  AuditSettings,
  Config,
  GraphqlSettings,
  RateLimitSettings,
  TracingSettings,
  WebhookSettings,
} from './config.ts';
import { ConfigError, type Environment, readOwnSetting, readSettings, type Values } from './read-settings.ts';

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
  if (values.OAUTH_PROFILE === 'fapi-2.0' && admitsPublicClients(values)) problems.push(FAPI_WITH_PUBLIC);
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...assemble(values), ownSetting: (name) => readOwnSetting(environment, name) };
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

const FAPI_WITH_PUBLIC =
  'OAUTH_PROFILE=fapi-2.0 admits no client that cannot authenticate: leave REGISTRATION off and CLIENT_DOCUMENTS none.';

const admitsPublicClients = ({ REGISTRATION, CLIENT_DOCUMENTS }: Values): boolean =>
  REGISTRATION === 'on' || CLIENT_DOCUMENTS === 'any' || CLIENT_DOCUMENTS.size > 0;

/** Longer than load balancers usually take to notice. */
const PRODUCTION_NOTICE_MS = 2_000;

const assemble = (values: Values): Omit<Config, 'ownSetting'> => ({
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
  clientDocuments: values.CLIENT_DOCUMENTS,
  upstreams: values.UPSTREAMS ?? [],
  dpopNonce: values.DPOP_NONCE,
  oauthProfile: values.OAUTH_PROFILE,
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
  audit: auditOf(values),
  clockSource: values.CLOCK_SOURCE,
  drainMs: values.DRAIN_MS,
  drainNoticeMs: Math.min(
    values.DRAIN_NOTICE_MS ?? (values.NODE_ENV === 'production' ? PRODUCTION_NOTICE_MS : 0),
    values.DRAIN_MS / 2,
  ),
});

const auditOf = (values: Values): AuditSettings => ({
  dir: resolve(values.AUDIT_DIR ?? join(values.DATA_DIR, 'audit')),
  headEveryMs: values.AUDIT_HEAD_EVERY_MS,
  keepReadsDays: values.READ_LOG_KEEP_DAYS,
  treeUrl: values.AUDIT_TREE_URL,
  isTreePrivate: values.AUDIT_TREE === 'private',
  watchEventsPerSecond: values.AUDIT_WATCH_EVENTS_PER_SECOND,
  witnesses: values.AUDIT_WITNESSES,
  timeStamps: { url: values.AUDIT_TSA_URL, everyMs: values.AUDIT_TSA_EVERY_MS },
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
