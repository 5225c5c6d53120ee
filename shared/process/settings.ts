// Over 200 lines, because it is one table: a setting has one place.
import { z } from 'zod';
import { parseBlobUrl } from '../blobs/blob-url.ts';
import { KAFKA_URL_FORM, parseKafkaUrl } from '../change-stream/kafka/kafka-url.ts';
import { hostsIn } from '../event-log/eventstoredb/address.ts';
import { roleName } from '../events/fields.ts';
import type { CorsOrigins } from '../http/cors.ts';
import { parseRange } from '../webhooks/guard/address.ts';

type Setting = {
  readonly schema: z.ZodType<unknown, string>;
  /** Completes the sentence “NAME must be …”. */
  readonly expected: string;
  readonly description: string;
  /** What counts when the variable is unset or empty. */
  readonly fallback?: string;
  /** How the table shows a default that is worked out from something else. */
  readonly fallbackText?: string;
  /** A value that no message may repeat. A path may not be repeated either, because what was meant to be in the file may stand there. */
  readonly secret?: boolean | 'path';
};

const PORT_MAX = 65_535;
const COUNT_MAX = 1_000_000_000;

const integer = (minimum: number, maximum: number) => z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(minimum).max(maximum));
const port = { schema: integer(0, PORT_MAX), expected: `a port number from 0 to ${PORT_MAX}, where 0 takes any free one` };
const count = { schema: integer(1, COUNT_MAX), expected: `a whole number from 1 to ${COUNT_MAX}` };
const rate = { schema: integer(1, 1_000_000), expected: 'a whole number from 1 to 1000000' };
const address = { schema: z.string().regex(/^[A-Za-z0-9.:_%-]+$/), expected: 'an IP address or a host name' };

const file = { schema: z.string().regex(/^(?!-----BEGIN)/), expected: 'the path of a PEM file, not its content', secret: 'path' as const };

const NO_ORIGINS: ReadonlySet<string> = new Set();

/** An origin as browsers write it, so that the two can be compared as text. */
const isOrigin = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;

/** `any`, `none`, or a list. */
const origins = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine((items) => ['any', 'none'].includes(items.join()) || items.every(isOrigin), { error: 'no origins' })
  .transform((items): CorsOrigins => (items[0] === 'any' ? 'any' : items[0] === 'none' ? NO_ORIGINS : new Set(items)));

/** Items with commas between them, or what stands for the list. */
const listOf = <Item>(parse: (text: string) => Item | undefined) =>
  z.string().transform((text, context): Item[] => {
    const parts = text.split(',');
    const items = parts.map((part) => parse(part.trim())).filter((item) => item !== undefined);
    if (items.length < parts.length) context.addIssue('not all are such items');
    return items;
  });

const numberIn =
  (minimum: number, maximum: number) =>
  (text: string): number | undefined =>
    /^\d+(\.\d+)?$/.test(text) && Number(text) >= minimum && Number(text) <= maximum ? Number(text) : undefined;

const portNumber = (text: string): number | undefined => (/^\d+$/.test(text) ? numberIn(1, PORT_MAX)(text) : undefined);

const WEEK_S = 604_800;
const YEAR_H = 8_760;

const HEADER = /^([\w!#$%&'*+.^`|~-]+)=((?:[\x21-\x24\x26-\x7e]|%[\dA-Fa-f]{2})*)$/;

/** As OpenTelemetry writes them: the values are percent-encoded. */
const headers = listOf((text) => {
  const [, name, value] = HEADER.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : ([name.toLowerCase(), decodeURIComponent(value)] as const);
}).transform((pairs): Readonly<Record<string, string>> => Object.fromEntries(pairs));

const isUrlOf = (text: string, protocols: readonly string[]): boolean => URL.canParse(text) && protocols.includes(new URL(text).protocol);
const urlOf = (...protocols: readonly string[]) => z.string().refine((text) => isUrlOf(text, protocols), { error: 'wrong protocol' });

const postgres = ['postgres:', 'postgresql:'];

/** Every setting that something reads: one table for the check at the start, `annals settings`, and the README. */
export const SETTINGS = {
  NODE_ENV: {
    schema: z.enum(['development', 'production', 'test']),
    expected: 'development, production, or test',
    fallback: 'development',
    description: 'Development is convenient; production refuses what is convenient but unsafe.',
  },
  DOMAIN_FILE: {
    schema: z.string().regex(/\.[cm]?[jt]s$/),
    expected: 'the path of a module, such as domain/shop.ts',
    fallback: 'domain/publishing.ts',
    description: 'The domain that is served: a file that exports what `assemble` returns. All processes of an installation serve the same.',
  },
  PORT: { ...port, fallback: '4000', description: 'Where clients are served.' },
  HOST: {
    ...address,
    fallbackText: '127.0.0.1, in production all addresses',
    description: 'The address of the machine that clients reach.',
  },
  PUBLIC_URL: {
    schema: urlOf('http:', 'https:').transform((text) => text.replace(/\/+$/, '')),
    expected: 'an http or https URL',
    fallbackText: 'http://localhost:PORT',
    description: 'The address by which clients know this installation; links begin with it.',
  },
  ISSUER_URL: {
    schema: urlOf('http:', 'https:')
      .refine((text) => new URL(text).pathname === '/' && new URL(text).search === '', { error: 'has a path' })
      .transform((text) => new URL(text).origin),
    expected: 'an http or https URL without a path',
    fallbackText: 'PUBLIC_URL',
    description: 'The name of the authorization server, which stands in every token as its issuer.',
  },
  JWKS_URL: {
    schema: urlOf('http:', 'https:'),
    expected: 'an http or https URL',
    fallbackText: '/jwks of ISSUER_URL',
    description: 'Where roles apart from auth read the keys that tokens are signed with, if they reach it by another address.',
  },
  SIGNUP: {
    schema: roleName.refine((role) => role !== 'admin'),
    expected: 'off, or a role other than admin',
    fallbackText: 'what the domain says, in production off',
    description:
      'What people become who create an account for themselves, or off if they cannot. In production it needs MAIL_URL, by which they confirm their address.',
  },
  MAIL_URL: {
    schema: urlOf('smtp:', 'smtps:').refine((text) => new URL(text).hostname !== '' && /^\/?$/.test(new URL(text).pathname), {
      error: 'no host',
    }),
    expected: 'an smtp or smtps URL, such as smtp://user:password@mail.example:587',
    fallbackText: 'printed to the log in development, none in production',
    description: 'The server that sends mail to people: links for sign-ups, forgotten passwords and invitations. Goes with MAIL_FROM.',
    secret: true,
  },
  MAIL_FROM: {
    schema: z.string().regex(/^(?:[^\p{Cc}<>"@]{1,100} <[^\s<>"@]{1,64}@[^\s<>"@]{1,255}>|[^\s<>"@]{1,64}@[^\s<>"@]{1,255})$/u),
    expected: 'an e-mail address, such as annals@example.com or Annals <annals@example.com>',
    fallbackText: 'none',
    description: 'Whom mail comes from.',
  },
  TRUST_PROXY: {
    schema: integer(0, 10),
    expected: 'a whole number from 0 to 10',
    fallback: '0',
    description: 'How many proxies stand in front; with 0 no `X-Forwarded-…` header is believed.',
  },
  CLIENT_CERT_SECRET: {
    schema: z.string().regex(/^[\x21-\x7e]{16,200}$/),
    expected: '16 to 200 visible ASCII characters',
    fallbackText: 'none: the header is never believed',
    description:
      'What the ingress sends as `X-Client-Cert-Secret` beside `X-Client-Cert` and `X-Client-Verify`, where it ends mutual TLS for us.',
    secret: true,
  },

  TLS_CERT: {
    ...file,
    fallbackText: 'plain HTTP',
    description: 'The certificate chain (PEM) with which PORT speaks TLS itself; goes with TLS_KEY.',
  },
  TLS_KEY: { ...file, fallbackText: 'plain HTTP', description: 'The private key (PEM) of TLS_CERT.' },
  TLS_CLIENT_CA: {
    ...file,
    fallbackText: 'clients are not asked',
    description: 'The authorities (PEM) whose client certificates are believed in mutual TLS (RFC 8705).',
  },
  DPOP_NONCE: {
    schema: z.enum(['offered', 'required']),
    expected: 'offered or required',
    fallback: 'offered',
    description: 'Whether a DPoP proof must hold a nonce of the authorization server, or may.',
  },
  CORS_ORIGINS: {
    schema: origins,
    expected: 'any, none, or origins such as https://app.example, separated by commas',
    fallbackText: 'any, in production none',
    description: 'The web pages, by their origins, whose scripts may call this installation with a token.',
  },
  REGISTRATION: {
    schema: z.enum(['off', 'on']),
    expected: 'off or on',
    fallback: 'off',
    description: 'Whether any application may register itself (RFC 7591), as a public client with limited scopes.',
  },
  METRICS_PORT: { ...port, fallback: '9464', description: 'Where Prometheus reads `/metrics`, apart from the clients.' },
  METRICS_HOST: { ...address, fallback: '127.0.0.1', description: 'The address of the machine that Prometheus reaches.' },
  DATA_DIR: {
    schema: z.string(),
    expected: 'a folder',
    fallback: '.data',
    description: 'Where the embedded PostgreSQL, uploads and, in development, the master key are kept.',
  },
  AUDIT_DIR: {
    schema: z.string(),
    expected: 'a folder',
    fallbackText: '`audit` in DATA_DIR',
    description:
      'What is kept outside the database: signed heads of the log and their keys, and the list of erased people. Put it on another disk or a shared volume, and a copy elsewhere.',
  },
  AUDIT_HEAD_EVERY_MS: {
    schema: integer(100, 86_400_000),
    expected: 'a whole number from 100 to 86400000',
    fallback: '60000',
    description:
      'How often the head of the chain is signed, where something was added: what came since then is not proven outside the database yet.',
  },
  AUDIT_WATCH_EVENTS_PER_SECOND: {
    schema: integer(0, 1_000_000),
    expected: 'a whole number from 0 to 1000000',
    fallback: '200',
    description:
      'How fast the log, its chain and the read model are verified in the background, again and again; 0 leaves it to `annals audit verify`.',
  },
  DATABASE_URL: {
    schema: urlOf(...postgres),
    expected: 'a postgres: URL, such as postgres://user:password@host:5432/annals',
    fallbackText: 'an embedded PostgreSQL in DATA_DIR',
    description: 'The PostgreSQL server (15 or newer) that everything is kept in.',
    secret: true,
  },
  DATABASE_DIRECT_URL: {
    schema: urlOf(...postgres),
    expected: 'a postgres: URL, such as postgres://user:password@host:5432/annals',
    fallbackText: 'DATABASE_URL, unless that leads through a pooler',
    description:
      'Where a pooler such as PgBouncer is at DATABASE_URL: the same database without it, for notifications. Without it, processes look for changes four times a second.',
    secret: true,
  },
  EVENT_LOG_URL: {
    schema: z.string().refine((text) => isUrlOf(text, postgres) || hostsIn(text) !== undefined, { error: 'no event log' }),
    expected: 'a postgres: or an esdb: URL, such as esdb://a:2113,b:2113,c:2113',
    fallbackText: 'the database',
    description: 'The engine of the event log: PostgreSQL or EventStoreDB.',
    secret: true,
  },
  CHANGE_STREAM_URL: {
    schema: z.string().refine((text) => text === 'postgres:' || parseKafkaUrl(text) !== undefined, { error: 'no change stream' }),
    expected: `postgres: (the database), or ${KAFKA_URL_FORM}`,
    fallback: 'postgres:',
    description:
      'The way of the changes to those who follow them: each process follows the event log itself, or Kafka brings them (`kafka://host:9092/topic`).',
    secret: true,
  },
  JOB_QUEUE_URL: {
    schema: urlOf(...postgres, 'redis:', 'rediss:'),
    expected: 'a postgres: URL (postgres: alone means the database), or a redis: URL',
    fallback: 'postgres:',
    description:
      'Where webhooks that have something to send wait for a worker. What is to be sent is in the database, so that whatever is lost here is queued again.',
    secret: true,
  },
  BLOB_URL: {
    schema: z.string().refine((text) => text === 'file:' || parseBlobUrl(text) !== undefined, { error: 'no place for blobs' }),
    expected: 'file: and the path of a folder, such as file:///var/lib/annals, or s3://bucket/prefix?endpoint=…&region=…',
    fallback: 'file:',
    description:
      'Where uploads are kept: a folder, by default `uploads` in DATA_DIR, or a bucket of S3 or what speaks its protocol; credentials stand in the URL (`s3://key:secret@…`) or in the AWS environment.',
    secret: true,
  },
  MASTER_KEY: {
    schema: z.string().regex(/^[A-Za-z0-9+/_-]{43}=?$/),
    expected: '32 random bytes in base64: make them with `openssl rand -base64 32`',
    fallbackText: 'made and kept in DATA_DIR; required in production',
    description: 'The secret that every personal field is encrypted under. Lost key, lost names: keep a copy apart from the data.',
    secret: true,
  },
  INTERNAL_PORT: {
    ...port,
    fallback: '4100',
    description: 'Where the command role listens for the other roles when it runs apart from them.',
  },
  INTERNAL_HOST: { ...address, fallback: '127.0.0.1', description: 'The address of the machine that the other roles reach.' },
  COMMAND_URL: {
    schema: listOf((text) => (urlOf('http:', 'https:').safeParse(text).success ? text : undefined)),
    expected: 'http or https URLs, separated by commas',
    fallback: 'http://127.0.0.1:4100',
    description:
      'Where the other roles find the internal listener of the command role: one name whose addresses are its copies, or several, with commas between them.',
  },
  REQUIRE_IF_MATCH: {
    schema: z.enum(['off', 'on']),
    expected: 'off or on',
    fallback: 'off',
    description: 'Whether a change by REST must say in `If-Match` which version it changes (else 428).',
  },
  RATE_LIMIT_URL: {
    schema: urlOf('memory:', ...postgres, 'redis:', 'rediss:'),
    expected: 'memory:, a postgres: URL (postgres: alone means the database), or a redis: URL',
    fallback: 'memory:',
    description: 'Where rate limits are counted. Memory is for one process; several share PostgreSQL or, for many requests, Redis.',
    secret: true,
  },
  RATE_LIMIT: { ...rate, fallback: '100', description: 'Units per second that a client with a token may take; a request costs one.' },
  RATE_LIMIT_BURST: { ...rate, fallback: '2000', description: 'Units that it may take at once after a rest.' },
  RATE_LIMIT_ANONYMOUS: {
    ...rate,
    fallback: '20',
    description: 'Units per second that an address (IPv6: a /64) may take without a token.',
  },
  RATE_LIMIT_ANONYMOUS_BURST: { ...rate, fallback: '500', description: 'Units that it may take at once after a rest.' },

  PERSISTED_DOCUMENTS: {
    schema: z.enum(['off', 'apq', 'prefer', 'enforce']),
    expected: 'off, apq, prefer, or enforce',
    fallback: 'apq',
    description:
      'GraphQL documents by name: never; by the hash of one sent before (apq); also by the id of one that `annals documents load` brought (prefer); only such (enforce).',
  },
  INTROSPECTION: {
    schema: z.enum(['off', 'on']),
    expected: 'off or on',
    fallbackText: 'on, in production off',
    description:
      'Whether GraphQL tells its schema to everybody, and a browser at `/graphql` is shown GraphiQL. Tokens with the scope `read:schema` read it anyway.',
  },
  GRAPHQL_TOKENS_MAX: { ...count, fallback: '2000', description: 'The longest GraphQL document, in tokens.' },
  GRAPHQL_DEPTH_MAX: { ...count, fallback: '10', description: 'The deepest nesting of fields.' },
  GRAPHQL_ALIASES_MAX: { ...count, fallback: '30', description: 'The most aliases of an operation.' },
  GRAPHQL_DIRECTIVES_MAX: { ...count, fallback: '50', description: 'The most directives of an operation.' },
  GRAPHQL_ROOT_FIELDS_MAX: { ...count, fallback: '20', description: 'The most fields at the root of an operation.' },
  GRAPHQL_COST_MAX: {
    ...count,
    fallback: '1000',
    description: 'The most that an operation may cost: an object 1, a list as often what its item costs as it may have items.',
  },
  GRAPHQL_COMPOSE: {
    schema: z.string().regex(/^[^=,\s]+=https?:\/\/\S+$|\.json$/),
    expected: 'services as name=url with commas between them, or the path of a JSON file',
    fallbackText: 'none',
    description:
      'Other GraphQL services whose queries and mutations are served with ours: `reviews=https://reviews.example/graphql,…`, or a JSON file with `{ "reviews": { "url", "timeoutMs", "headers", "forwardHeaders", "prefix", "schemaFile" } }`. They see no header of the client that is not named in `forwardHeaders`.',
    secret: true,
  },
  LOG_LEVEL: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    expected: 'trace, debug, info, warn, error, fatal, or silent',
    fallback: 'info',
    description: 'The least that is logged.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: urlOf('http:', 'https:').refine((text) => new URL(text).username === '' && new URL(text).search === '', {
      error: 'more than an address',
    }),
    expected: 'an http or https URL without a user, a password or a query, such as http://collector:4318',
    fallbackText: 'no traces',
    description:
      'The OpenTelemetry collector that spans are sent to (OTLP over HTTP, at `/v1/traces` there). Set it once every process is of a release that has this setting.',
    secret: true,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: headers,
    expected: 'headers as name=value, separated by commas, with values percent-encoded',
    fallbackText: 'none',
    description: 'What is sent with the spans, such as the key of whoever keeps them.',
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    schema: z.string().regex(/^[\x21-\x7e]{1,100}$/),
    expected: '1 to 100 visible ASCII characters',
    fallbackText: 'annals, of a single role annals-command and so on',
    description: 'What the process is called in traces.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .transform(numberIn(0, 1))
      .refine((share) => share !== undefined, { error: 'no share' }),
    expected: 'a number from 0 to 1',
    fallbackText: '1, in production 0.1',
    description: 'The share of the traces beginning here that is recorded; a trace that a request brings along is recorded if it says so.',
  },
  BODY_BYTES_MAX: { ...count, fallback: '1048576', description: 'The largest body of a request, in bytes.' },
  HEADER_BYTES_MAX: { ...count, fallback: '8192', description: 'The largest request line and headers together, in bytes.' },
  HEADERS_TIMEOUT_MS: { ...count, fallback: '10000', description: 'How long a client may take to send its headers.' },
  REQUEST_TIMEOUT_MS: {
    ...count,
    fallback: '30000',
    description: 'How long a client may take to send a whole request, and how long it may take nothing of the answer.',
  },
  CONNECTIONS_MAX: { ...count, fallback: '10000', description: 'How many clients may be connected at once.' },
  REQUESTS_MAX: {
    ...count,
    fallback: '1000',
    description:
      'How many requests a process may have in the works at once, streams not counted; more are refused (503) until there is room.',
  },
  CLIENT_BYTES_MAX: {
    ...count,
    fallback: '268435456',
    description:
      'How much of bodies that are still coming, and of answers that are not taken yet, may wait in a process; beyond it, whoever has kept it waiting for longest is cut off.',
  },
  EVENT_LOOP_LAG_MAX_MS: {
    ...count,
    fallback: '500',
    description: 'How late a process may steadily be, by its event loop; while it is later, it refuses requests (503).',
  },
  STREAMS_PER_OWNER_MAX: {
    ...count,
    fallback: '100',
    description:
      'How many streams of events (`/events`, subscriptions of GraphQL) a user, or an address without a token, may have open at each process.',
  },
  STREAM_HEARTBEAT_MS: {
    // Each time, every stream is looked at.
    schema: integer(100, 3_600_000),
    expected: 'a whole number from 100 to 3600000',
    fallback: '15000',
    description: 'How often a silent stream of events is told that it lives, and how far it is: less than what proxies wait for.',
  },
  STREAM_BUFFER_BYTES_MAX: {
    ...count,
    fallback: '1048576',
    description: 'How much may wait for the reader of a stream of events; one that is slower is told so, closed, and may go on from there.',
  },
  WEBHOOKS_PER_OWNER_MAX: { ...count, fallback: '50', description: 'How many webhooks a user may have.' },
  WEBHOOK_CONCURRENCY: {
    schema: integer(1, 10_000),
    expected: 'a whole number from 1 to 10000',
    fallback: '256',
    description: 'To how many webhooks each process of the dispatcher sends at once.',
  },
  WEBHOOK_KEEP_DAYS: {
    schema: integer(1, 3_650),
    expected: 'a whole number from 1 to 3650',
    fallback: '30',
    description: 'How many days a delivery is kept, with its attempts, after it has arrived or was given up.',
  },
  WEBHOOK_ALLOW_CIDRS: {
    schema: z
      .literal('none')
      .transform(() => [])
      .or(listOf(parseRange)),
    expected: 'none, or addresses and ranges such as 10.1.0.0/16,fd00::/8, separated by commas',
    fallbackText: '127.0.0.0/8,::1, in production none',
    description: 'Inside addresses that webhooks may be sent to all the same; every other one is refused, however it is written or found.',
  },
  WEBHOOK_PORTS: {
    schema: z.literal('any').or(listOf(portNumber)),
    expected: 'any, or port numbers separated by commas',
    fallbackText: 'any, in production 80,443',
    description: 'The ports that webhooks may be sent to.',
  },
  WEBHOOK_TIMEOUT_MS: {
    schema: integer(100, 600_000),
    expected: 'a whole number from 100 to 600000',
    fallback: '15000',
    description: 'How long an attempt to deliver may take in all, from looking up the name to the end of the answer.',
  },
  WEBHOOK_RETRY_SCHEDULE: {
    schema: listOf(numberIn(0, WEEK_S)),
    expected: `seconds from 0 to ${WEEK_S}, separated by commas`,
    fallback: '5,300,1800,7200,18000,36000,50400,72000,86400',
    description: 'After how many seconds a delivery that failed is tried again, each time, give or take a fifth; then it is a dead letter.',
  },
  WEBHOOK_DISABLE_AFTER_HOURS: {
    schema: z
      .string()
      .transform(numberIn(0, YEAR_H))
      .refine((hours) => hours !== undefined, { error: 'no number of hours' }),
    expected: `hours from 0 to ${YEAR_H}`,
    fallback: '120',
    description: 'After how many hours of nothing but failures a webhook is disabled.',
  },
  DRAIN_MS: {
    schema: integer(100, 600_000),
    expected: 'a whole number from 100 to 600000',
    fallback: '10000',
    description: 'How long a process that was told to stop may take to finish what it has begun.',
  },
  DRAIN_NOTICE_MS: {
    schema: integer(0, 600_000),
    expected: 'a whole number from 0 to 600000',
    fallbackText: '0, in production 2000',
    description:
      'How much of DRAIN_MS (half of it at most) a process still takes requests for, while `/readyz` says that it stops, so that whoever balances sends them elsewhere.',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** The table of the settings in Markdown, as the README shows it. */
export const settingsTable = (): string => {
  const rows = Object.entries<Setting>(SETTINGS).map(
    ([name, { fallback, fallbackText, description }]) =>
      `| \`${name}\` | ${fallback === undefined ? fallbackText : `\`${fallback}\``} | ${description} |`,
  );
  return ['| Setting | Default | What it is |', '|---|---|---|', ...rows].join('\n');
};
