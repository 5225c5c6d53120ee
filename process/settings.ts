// Over 200 lines, because it is one table: a setting has one place.
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { hostsIn } from '#adapters/eventstoredb/address.ts';
import { KAFKA_URL_FORM, parseKafkaUrl } from '#adapters/kafka/kafka-url.ts';
import { roleName } from '#kernel/base/events/fields.ts';
import { parseBlobUrl } from '#shared/blobs/blob-url.ts';
import { DEFAULT_LOG_PREFIX, LOG_PREFIX_FORM } from '#shared/event-log/default-prefix.ts';
import { CELLS } from '#shared/id-time.ts';
import { parseRange } from '#shared/webhooks/guard/address.ts';
import {
  address,
  count,
  file,
  headers,
  integer,
  isUrlOf,
  listOf,
  numberIn,
  origins,
  port,
  portNumber,
  postgres,
  rate,
  urlOf,
} from './setting-values.ts';
import { upstreams } from './upstreams.ts';

type Setting = {
  readonly schema: z.ZodType<unknown, string>;
  /** Completes the sentence “NAME must be …”. */
  readonly expected: string;
  readonly description: string;
  /** The default if the variable is unset or empty. */
  readonly fallback?: string;
  /** The table’s text for a default that is computed from something else. */
  readonly fallbackText?: string;
  /**
   * A value that no message may repeat. A path may not be repeated either, because someone may have put the
   * secret itself there.
   */
  readonly secret?: boolean | 'path';
};

const WORKERS_MAX = 64;

const WEEK_S = 604_800;
const YEAR_H = 8_760;

/**
 * Every setting that is read anywhere: one table for the check at the start, `annals settings`, and
 * docs/settings.md.
 */
export const SETTINGS = {
  NODE_ENV: {
    schema: z.enum(['development', 'production', 'test']),
    expected: 'development, production, or test',
    fallback: 'development',
    description: 'Development uses convenient defaults. Production refuses unsafe ones at startup.',
  },
  DOMAIN_FILE: {
    schema: z.string().regex(/\.[cm]?[jt]s$/),
    expected: 'the path of a module, such as domain/shop.ts',
    fallback: 'domain/publishing.ts',
    description:
      'The domain to serve: a module that exports the result of `assemble`. All processes of an installation must use the same one.',
  },
  WORKERS: {
    schema: z
      .literal('auto')
      .transform(() => availableParallelism())
      .or(integer(1, WORKERS_MAX)),
    expected: `auto, or a whole number from 1 to ${WORKERS_MAX}`,
    fallback: '1',
    description:
      'Processes in which `npm start` serves clients, behind one listener (`auto`: one for each processor). With 2 or more, another process follows the event log. A role that is started alone is one process.',
  },
  CELL: {
    schema: integer(0, CELLS - 1),
    expected: `a whole number from 0 to ${CELLS - 1}`,
    fallbackText: 'none: there is one cell',
    description:
      'Number of this installation if it is one of several cells. New ids of different cells differ, except ids that reactions create, so that streams can be copied between them.',
  },
  PORT: { ...port, fallback: '4000', description: 'Port for clients.' },
  HOST: {
    ...address,
    fallbackText: '`127.0.0.1`; in production all addresses',
    description: 'Network address that PORT listens on.',
  },
  PUBLIC_URL: {
    schema: urlOf('http:', 'https:').transform((text) => text.replace(/\/+$/, '')),
    expected: 'an http or https URL',
    fallbackText: '`http://localhost:PORT`',
    description: 'Base URL of this installation as clients see it. Links start with it.',
  },
  ISSUER_URL: {
    schema: urlOf('http:', 'https:')
      .refine((text) => new URL(text).pathname === '/' && new URL(text).search === '', {
        error: 'has a path',
      })
      .transform((text) => new URL(text).origin),
    expected: 'an http or https URL without a path',
    fallbackText: 'PUBLIC_URL',
    description: 'Issuer (`iss`) of all tokens: the name of the authorization server.',
  },
  JWKS_URL: {
    schema: urlOf('http:', 'https:'),
    expected: 'an http or https URL',
    fallbackText: '`/jwks` of ISSUER_URL',
    description: 'URL of the token signing keys, for roles that reach the auth role by another address.',
  },
  SIGNUP: {
    schema: roleName.refine((role) => role !== 'admin'),
    expected: 'off, or a role other than admin',
    fallbackText: 'from the domain; in production `off`',
    description:
      'Role of self-registered users; `off` disables sign-up. In production it requires MAIL_URL, to confirm addresses.',
  },
  MAIL_URL: {
    schema: urlOf('smtp:', 'smtps:').refine(
      (text) => new URL(text).hostname !== '' && /^\/?$/.test(new URL(text).pathname),
      {
        error: 'no host',
      },
    ),
    expected: 'an smtp or smtps URL, such as smtp://user:password@mail.example:587',
    fallbackText: 'none; development prints mail to the log',
    description:
      'SMTP server for mail to users: sign-up, password reset and invitation links. Requires MAIL_FROM.',
    secret: true,
  },
  MAIL_FROM: {
    schema: z
      .string()
      .regex(
        /^(?:[^\p{Cc}<>"@]{1,100} <[^\s<>"@]{1,64}@[^\s<>"@]{1,255}>|[^\s<>"@]{1,64}@[^\s<>"@]{1,255})$/u,
      ),
    expected: 'an e-mail address, such as annals@example.com or Annals <annals@example.com>',
    fallbackText: 'none',
    description: 'Sender address of mail to users.',
  },
  TRUST_PROXY: {
    schema: integer(0, 10),
    expected: 'a whole number from 0 to 10',
    fallback: '0',
    description: 'Number of trusted proxies in front. With 0, `X-Forwarded-…` headers are ignored.',
  },
  CLIENT_CERT_SECRET: {
    schema: z.string().regex(/^[\x21-\x7e]{16,200}$/),
    expected: '16 to 200 visible ASCII characters',
    fallbackText: 'none: such headers are ignored',
    description:
      'Shared secret for an ingress that terminates mutual TLS. It sends the secret as `X-Client-Cert-Secret`, with `X-Client-Cert` and `X-Client-Verify`.',
    secret: true,
  },

  TLS_CERT: {
    ...file,
    fallbackText: 'none (plain HTTP)',
    description: 'Certificate chain (PEM) to serve HTTPS on PORT. Requires TLS_KEY.',
  },
  TLS_KEY: { ...file, fallbackText: 'none (plain HTTP)', description: 'Private key (PEM) of TLS_CERT.' },
  TLS_CLIENT_CA: {
    ...file,
    fallbackText: 'none',
    description: 'Certificate authorities (PEM) trusted for client certificates (mutual TLS, RFC 8705).',
  },
  DPOP_NONCE: {
    schema: z.enum(['offered', 'required']),
    expected: 'offered or required',
    fallback: 'offered',
    description:
      'Whether DPoP proofs must contain a nonce of the authorization server (`required`) or may (`offered`).',
  },
  OAUTH_PROFILE: {
    schema: z.enum(['oauth-2.1', 'fapi-2.0']),
    expected: 'oauth-2.1 or fapi-2.0',
    fallback: 'oauth-2.1',
    description:
      'Whether all clients but the pages of the installation itself must meet the FAPI 2.0 Security Profile (`fapi-2.0`): they authenticate by a key, push their authorization requests, and their tokens are bound to a key.',
  },
  CORS_ORIGINS: {
    schema: origins,
    expected: 'any, none, or origins such as https://app.example, separated by commas',
    fallbackText: '`any`; in production `none`',
    description: 'Web origins whose scripts may call the API with a token.',
  },
  REGISTRATION: {
    schema: z.enum(['off', 'on']),
    expected: 'off or on',
    fallback: 'off',
    description: 'Whether clients may register themselves (RFC 7591), as public clients with limited scopes.',
  },
  CLIENT_DOCUMENTS: {
    schema: origins,
    expected: 'any, none, or origins such as https://app.example, separated by commas',
    fallback: 'none',
    description:
      'Origins whose documents are clients under their address (Client ID Metadata Document), with the rights of those that register themselves.',
  },
  UPSTREAMS: {
    schema: upstreams,
    expected:
      'a JSON list of identity providers with name, issuer, clientId and clientSecret, as docs/identity-providers.md describes',
    fallbackText: 'none',
    description:
      'Identity providers with whose accounts people sign in: OpenID Connect, or GitHub. A JSON list; put it in a file and name that by UPSTREAMS_FILE.',
    secret: true,
  },
  METRICS_PORT: { ...port, fallback: '9464', description: 'Port for Prometheus (`/metrics`).' },
  METRICS_HOST: {
    ...address,
    fallback: '127.0.0.1',
    description: 'Network address that METRICS_PORT listens on.',
  },
  DATA_DIR: {
    schema: z.string(),
    expected: 'a folder',
    fallback: '.data',
    description: 'Folder of the embedded PostgreSQL, of uploads and, in development, of the master key.',
  },
  AUDIT_DIR: {
    schema: z.string(),
    expected: 'a folder',
    fallbackText: '`audit` in DATA_DIR',
    description:
      'Folder of what must survive outside the database: signed heads, their keys, the newest event of the log, and the list of erased users. Use another disk or a shared volume, and back it up.',
  },
  AUDIT_HEAD_EVERY_MS: {
    schema: integer(100, 86_400_000),
    expected: 'a whole number from 100 to 86400000',
    fallback: '60000',
    description:
      'Interval between signed heads, if there are new events. Events since the last head have no proof outside the database yet.',
  },
  AUDIT_TREE: {
    schema: z.enum(['public', 'private']),
    expected: 'public or private',
    fallback: 'public',
    description:
      'Readers of the Merkle tree over HTTP: everybody, or administrators with `read:events` alone. It says how many events there are and how fast they come, and nothing of what is in them.',
  },
  AUDIT_TREE_URL: {
    schema: z.string().refine((text) => parseBlobUrl(text) !== undefined, { error: 'no place for files' }),
    expected:
      'file: and the path of a folder, such as file:///srv/annals, or s3://bucket/prefix?endpoint=…&region=…',
    fallbackText: 'none',
    description:
      'Where the projector also publishes the Merkle tree over the log, as static files for everybody: a folder, or an S3-compatible bucket.',
    secret: true,
  },
  AUDIT_WATCH_EVENTS_PER_SECOND: {
    schema: integer(0, 1_000_000),
    expected: 'a whole number from 0 to 1000000',
    fallback: '200',
    description:
      'Rate of the continuous background verification of log, chain and read model; 0 turns it off (`annals audit verify` still verifies).',
  },
  AUDIT_WITNESSES: {
    schema: z.string().regex(/^(?!\w+:\/\/)/),
    expected: 'the path of a policy, or its text in several lines',
    fallbackText: 'none',
    description:
      'Witnesses of the log, and how many of them must cosign its head: a policy (C2SP tlog-policy) with the addresses of the witnesses, or the path of its file. The process that builds the proof sends them new heads.',
  },
  AUDIT_TSA_URL: {
    schema: urlOf('http:', 'https:'),
    expected: 'an http or https URL',
    fallbackText: 'none',
    description: 'Authority that stamps heads of the log with the time (RFC 3161).',
  },
  AUDIT_TSA_EVERY_MS: {
    schema: integer(1_000, 604_800_000),
    expected: 'a whole number from 1000 to 604800000',
    fallback: '3600000',
    description: 'Interval between time stamps, if there are new events.',
  },
  CLOCK_SOURCE: {
    schema: z.string().regex(/^[\x20-\x7e]{1,200}$/),
    expected: 'one line of at most 200 ASCII characters',
    fallbackText: 'unknown',
    description:
      'The source that synchronizes the clock of the machine, such as `chrony with time.example`. Annals does not check it: it states it in `/audit/status` and in exports, beside the drift that it measures.',
  },
  DATABASE_URL: {
    schema: urlOf(...postgres),
    expected: 'a postgres: URL, such as postgres://user:password@host:5432/annals',
    fallbackText: 'embedded PostgreSQL in DATA_DIR',
    description: 'PostgreSQL server (15 or newer) for all data.',
    secret: true,
  },
  DATABASE_DIRECT_URL: {
    schema: urlOf(...postgres),
    expected: 'a postgres: URL, such as postgres://user:password@host:5432/annals',
    fallbackText: 'DATABASE_URL',
    description:
      'The same database without the pooler, if DATABASE_URL leads through one such as PgBouncer; needed for notifications. Without it, processes poll four times a second. Give it to all processes or to none: one without it sends no notifications, and the others look only every four seconds.',
    secret: true,
  },
  READ_DATABASE_URL: {
    schema: listOf((text) => (isUrlOf(text, postgres) ? text : undefined)),
    expected: 'postgres: URLs of read replicas, separated by commas',
    fallbackText: 'none',
    description:
      'Streaming replicas of DATABASE_URL for reads of the read model (query role). A replica that lags or is down is skipped, and reads go to DATABASE_URL.',
    secret: true,
  },
  EVENT_LOG_URL: {
    schema: z
      .string()
      .refine((text) => isUrlOf(text, postgres) || hostsIn(text) !== undefined, { error: 'no event log' }),
    expected: 'a postgres: or an esdb: URL, such as esdb://a:2113,b:2113,c:2113',
    fallbackText: 'DATABASE_URL',
    description: 'Engine of the event log: PostgreSQL or EventStoreDB.',
    secret: true,
  },
  EVENT_LOG_PREFIX: {
    schema: z.string().regex(new RegExp(`^${LOG_PREFIX_FORM}$`)),
    expected: '1 to 40 lower-case letters, digits and underscores, beginning with a letter',
    fallback: DEFAULT_LOG_PREFIX,
    description:
      'Beginning of the names of all streams in EventStoreDB. Installations that share a server need different ones.',
  },
  CHANGE_STREAM_URL: {
    schema: z.string().refine((text) => text === 'postgres:' || parseKafkaUrl(text) !== undefined, {
      error: 'no change stream',
    }),
    expected: `postgres: (the database), or ${KAFKA_URL_FORM}`,
    fallback: 'postgres:',
    description:
      'How changes reach streams and webhooks: each process follows the event log, or reads them from Kafka (`kafka://host:9092/topic`).',
    secret: true,
  },
  JOB_QUEUE_URL: {
    schema: urlOf(...postgres, 'redis:', 'rediss:'),
    expected: 'a postgres: URL (postgres: alone means the database), or a redis: URL',
    fallback: 'postgres:',
    description:
      'Queue of webhooks that have something to deliver. The deliveries themselves are in the database: a lost queue is filled again.',
    secret: true,
  },
  BLOB_URL: {
    schema: z.string().refine((text) => text === 'file:' || parseBlobUrl(text) !== undefined, {
      error: 'no place for blobs',
    }),
    expected:
      'file: and the path of a folder, such as file:///var/lib/annals, or s3://bucket/prefix?endpoint=…&region=…',
    fallback: 'file:',
    description:
      'Storage of uploads: a folder (default: `uploads` in DATA_DIR) or an S3-compatible bucket. Credentials come from the URL (`s3://key:secret@…`) or the AWS environment.',
    secret: true,
  },
  MASTER_KEY: {
    schema: z.string().regex(/^[A-Za-z0-9+/_-]{43}=?$/),
    expected: '32 random bytes in base64: make them with `openssl rand -base64 32`',
    fallbackText: 'created in DATA_DIR; required in production',
    description:
      'Key that encrypts all personal data. If you lose it, personal data is lost: keep a copy apart from the data.',
    secret: true,
  },
  INTERNAL_PORT: {
    ...port,
    fallback: '4100',
    description: 'Port on which the command role serves the other roles, if they run in other processes.',
  },
  INTERNAL_HOST: {
    ...address,
    fallback: '127.0.0.1',
    description: 'Network address that INTERNAL_PORT listens on.',
  },
  COMMAND_URL: {
    schema: listOf((text) => (urlOf('http:', 'https:').safeParse(text).success ? text : undefined)),
    expected: 'http or https URLs, separated by commas',
    fallback: 'http://127.0.0.1:4100',
    description:
      'Internal URL of the command role: one host name for all replicas, or several URLs separated by commas.',
  },
  REQUIRE_IF_MATCH: {
    schema: z.enum(['off', 'on']),
    expected: 'off or on',
    fallback: 'off',
    description: 'Whether REST changes require `If-Match` with the version they change (else 428).',
  },
  RATE_LIMIT_URL: {
    schema: urlOf('memory:', ...postgres, 'redis:', 'rediss:'),
    expected: 'memory:, a postgres: URL (postgres: alone means the database), or a redis: URL',
    fallback: 'memory:',
    description:
      'Storage of rate limits. `memory:` is for one `npm start`, whatever WORKERS is; several processes share PostgreSQL or, under heavy load, Redis.',
    secret: true,
  },
  RATE_LIMIT: {
    ...rate,
    fallback: '100',
    description: 'Units per second for a client with a token. A request costs one unit.',
  },
  RATE_LIMIT_BURST: {
    ...rate,
    fallback: '2000',
    description: 'Units that such a client can use at once after a pause.',
  },
  RATE_LIMIT_ANONYMOUS: {
    ...rate,
    fallback: '20',
    description: 'Units per second for an IP address (IPv6: a /64) without a token.',
  },
  RATE_LIMIT_ANONYMOUS_BURST: {
    ...rate,
    fallback: '500',
    description: 'Units that such an address can use at once after a pause.',
  },

  PERSISTED_DOCUMENTS: {
    schema: z.enum(['off', 'apq', 'prefer', 'enforce']),
    expected: 'off, apq, prefer, or enforce',
    fallback: 'apq',
    description:
      'GraphQL persisted documents: `off`; `apq` accepts the hash of a document sent before; `prefer` also accepts ids loaded by `annals documents load`; `enforce` accepts only those.',
  },
  INTROSPECTION: {
    schema: z.enum(['off', 'on']),
    expected: 'off or on',
    fallbackText: '`on`; in production `off`',
    description:
      'Whether everybody may read the GraphQL schema, and browsers get GraphiQL at `/graphql`. Tokens with the scope `read:schema` may always read it.',
  },
  GRAPHQL_TOKENS_MAX: {
    ...count,
    fallback: '2000',
    description: 'Maximum length of a GraphQL document, in tokens.',
  },
  GRAPHQL_DEPTH_MAX: { ...count, fallback: '10', description: 'Maximum nesting of fields.' },
  GRAPHQL_ALIASES_MAX: { ...count, fallback: '30', description: 'Maximum number of aliases per operation.' },
  GRAPHQL_DIRECTIVES_MAX: {
    ...count,
    fallback: '50',
    description: 'Maximum number of directives per operation.',
  },
  GRAPHQL_ROOT_FIELDS_MAX: {
    ...count,
    fallback: '20',
    description: 'Maximum number of root fields per operation.',
  },
  GRAPHQL_COST_MAX: {
    ...count,
    fallback: '1000',
    description:
      'Maximum cost of an operation. An object costs 1; a list costs its page size times the cost of an item.',
  },
  GRAPHQL_COMPOSE: {
    schema: z.string().regex(/^[^=,\s]+=https?:\/\/\S+$|\.json$/),
    expected: 'services as name=url, separated by commas, or the path of a JSON file',
    fallbackText: 'none',
    description:
      'Other GraphQL services to serve in the same schema: `reviews=https://reviews.example/graphql,…`, or a JSON file with `{ "reviews": { "url", "timeoutMs", "headers", "forwardHeaders", "prefix", "schemaFile" } }`. They receive only the client headers listed in `forwardHeaders`.',
    secret: true,
  },
  LOG_LEVEL: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    expected: 'trace, debug, info, warn, error, fatal, or silent',
    fallback: 'info',
    description:
      'Minimum level of log messages. Each request is one of level `info`; in development of level `debug`, unless it failed on the server.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: urlOf('http:', 'https:').refine(
      (text) => new URL(text).username === '' && new URL(text).search === '',
      {
        error: 'more than an address',
      },
    ),
    expected: 'an http or https URL without a user, a password or a query, such as http://collector:4318',
    fallbackText: 'no traces',
    description:
      'OpenTelemetry collector for traces (OTLP over HTTP; spans go to `/v1/traces`). Set it once all processes run a release that has this setting.',
    secret: true,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: headers,
    expected: 'headers as name=value, separated by commas, with values percent-encoded',
    fallbackText: 'none',
    description: 'Headers to send to the collector, such as an API key.',
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    schema: z.string().regex(/^[\x21-\x7e]{1,100}$/),
    expected: '1 to 100 visible ASCII characters',
    fallbackText: '`annals`, or `annals-<role>` for a single role',
    description: 'Service name in traces.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .transform(numberIn(0, 1))
      .refine((share) => share !== undefined, { error: 'no share' }),
    expected: 'a number from 0 to 1',
    fallbackText: '`1`; in production `0.1`',
    description: 'Share of new traces to record. A request that brings its own trace decides itself.',
  },
  BODY_BYTES_MAX: { ...count, fallback: '1048576', description: 'Maximum size of a request body, in bytes.' },
  HEADER_BYTES_MAX: {
    ...count,
    fallback: '32768',
    description:
      'Maximum size of the request line and headers, in bytes. A token with all scopes of the domain must fit.',
  },
  HEADERS_TIMEOUT_MS: {
    ...count,
    fallback: '10000',
    description: 'Timeout for receiving the request headers.',
  },
  REQUEST_TIMEOUT_MS: {
    ...count,
    fallback: '30000',
    description: 'Timeout for receiving a whole request, and for a client that stops reading the response.',
  },
  CONNECTIONS_MAX: { ...count, fallback: '10000', description: 'Maximum number of client connections.' },
  REQUESTS_MAX: {
    ...count,
    fallback: '1000',
    description:
      'Maximum number of concurrent requests per process, without streams. More are refused with 503.',
  },
  CLIENT_BYTES_MAX: {
    ...count,
    fallback: '268435456',
    description:
      'Maximum memory, in bytes, for unfinished request bodies and unread responses per process. Beyond it, the client that has stalled longest is disconnected.',
  },
  EVENT_LOOP_LAG_MAX_MS: {
    ...count,
    fallback: '500',
    description: 'Event loop lag above which a process refuses requests (503).',
  },
  STREAMS_PER_OWNER_MAX: {
    ...count,
    fallback: '100',
    description:
      'Maximum number of open streams (`/events`, GraphQL subscriptions) per process, for a user or for an address without a token.',
  },
  STREAM_HEARTBEAT_MS: {
    // Each run checks every stream.
    schema: integer(100, 3_600_000),
    expected: 'a whole number from 100 to 3600000',
    fallback: '15000',
    description: 'Interval of heartbeats on idle streams. Keep it below the idle timeout of your proxies.',
  },
  STREAM_BUFFER_BYTES_MAX: {
    ...count,
    fallback: '1048576',
    description:
      'Maximum buffered bytes per stream. A slower subscriber gets `too_slow`, is disconnected, and can resume.',
  },
  WEBHOOKS_PER_OWNER_MAX: { ...count, fallback: '50', description: 'Maximum number of webhooks per user.' },
  WEBHOOK_CONCURRENCY: {
    schema: integer(1, 10_000),
    expected: 'a whole number from 1 to 10000',
    fallback: '256',
    description: 'Maximum number of webhooks that a dispatcher process delivers to at the same time.',
  },
  WEBHOOK_KEEP_DAYS: {
    schema: integer(1, 3_650),
    expected: 'a whole number from 1 to 3650',
    fallback: '30',
    description: 'Retention of deliveries and their attempts after success or dead letter, in days.',
  },
  READ_LOG_KEEP_DAYS: {
    schema: integer(1, 36_500),
    expected: 'a whole number from 1 to 36500',
    fallbackText: 'for ever',
    description:
      'Retention of the log of reads, in days; a domain declares the aggregates whose reads are in it. Older entries are removed.',
  },
  WEBHOOK_ALLOW_CIDRS: {
    schema: z
      .literal('none')
      .transform(() => [])
      .or(listOf(parseRange)),
    expected: 'none, or addresses and ranges such as 10.1.0.0/16,fd00::/8, separated by commas',
    fallbackText: '`127.0.0.0/8,::1`; in production `none`',
    description:
      'Private address ranges that webhooks may target. All other private addresses are refused, also after DNS resolution.',
  },
  WEBHOOK_PORTS: {
    schema: z.literal('any').or(listOf(portNumber)),
    expected: 'any, or port numbers separated by commas',
    fallbackText: '`any`; in production `80,443`',
    description: 'Ports that webhooks may target.',
  },
  WEBHOOK_TIMEOUT_MS: {
    schema: integer(100, 600_000),
    expected: 'a whole number from 100 to 600000',
    fallback: '15000',
    description: 'Timeout of a delivery attempt, from DNS lookup to the end of the response.',
  },
  WEBHOOK_RETRY_SCHEDULE: {
    schema: listOf(numberIn(0, WEEK_S)),
    expected: `seconds from 0 to ${WEEK_S}, separated by commas`,
    fallback: '5,300,1800,7200,18000,36000,50400,72000,86400',
    description:
      'Delays before the retries of a failed delivery, in seconds, each varied by up to 20 %. After the last one, the delivery is a dead letter.',
  },
  WEBHOOK_DISABLE_AFTER_HOURS: {
    schema: z
      .string()
      .transform(numberIn(0, YEAR_H))
      .refine((hours) => hours !== undefined, { error: 'no number of hours' }),
    expected: `hours from 0 to ${YEAR_H}`,
    fallback: '120',
    description: 'Hours of continuous failure after which a webhook is disabled.',
  },
  DRAIN_MS: {
    schema: integer(100, 600_000),
    expected: 'a whole number from 100 to 600000',
    fallback: '10000',
    description: 'Shutdown timeout: how long a process may take to finish open requests.',
  },
  DRAIN_NOTICE_MS: {
    schema: integer(0, 600_000),
    expected: 'a whole number from 0 to 600000',
    fallbackText: '`0`; in production `2000`',
    description:
      'First part of DRAIN_MS (at most half), in which a stopping process still accepts requests while `/readyz` fails, so that load balancers remove it first.',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** The table of the settings in Markdown, as docs/settings.md shows it. */
export const settingsTable = (): string => {
  const rows = Object.entries<Setting>(SETTINGS).map(
    ([name, { fallback, fallbackText, description }]) =>
      `| \`${name}\` | ${fallback === undefined ? fallbackText : `\`${fallback}\``} | ${description} |`,
  );
  return ['| Setting | Default | What it is |', '|---|---|---|', ...rows].join('\n');
};

export const secretSettings = (): readonly string[] =>
  Object.entries<Setting>(SETTINGS).flatMap(([name, { secret }]) => (secret === true ? [name] : []));
