import { z } from 'zod';

type Setting = {
  readonly schema: z.ZodType<unknown, string>;
  /** Completes the sentence “NAME must be …”. */
  readonly expected: string;
  readonly description: string;
  /** What counts when the variable is unset or empty. */
  readonly fallback?: string;
  /** How the table shows a default that is worked out from something else. */
  readonly fallbackText?: string;
  /** A value that no message may repeat. */
  readonly secret?: boolean;
};

const PORT_MAX = 65_535;
const COUNT_MAX = 1_000_000_000;

const integer = (minimum: number, maximum: number) => z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(minimum).max(maximum));
const port = { schema: integer(0, PORT_MAX), expected: `a port number from 0 to ${PORT_MAX}, where 0 takes any free one` };
const count = { schema: integer(1, COUNT_MAX), expected: `a whole number from 1 to ${COUNT_MAX}` };
const address = { schema: z.string().regex(/^[A-Za-z0-9.:_%-]+$/), expected: 'an IP address or a host name' };

const urlOf = (...protocols: readonly string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), { error: 'wrong protocol' });

const postgres = ['postgres:', 'postgresql:'];

/** Every setting that something reads: one table for the check at the start, `annals settings`, and the README. */
export const SETTINGS = {
  NODE_ENV: {
    schema: z.enum(['development', 'production', 'test']),
    expected: 'development, production, or test',
    fallback: 'development',
    description: 'Development is convenient; production refuses what is convenient but unsafe.',
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
  METRICS_PORT: { ...port, fallback: '9464', description: 'Where Prometheus reads `/metrics`, apart from the clients.' },
  METRICS_HOST: { ...address, fallback: '127.0.0.1', description: 'The address of the machine that Prometheus reaches.' },
  DATA_DIR: {
    schema: z.string(),
    expected: 'a folder',
    fallback: '.data',
    description: 'Where the embedded PostgreSQL and, in development, the master key are kept.',
  },
  DATABASE_URL: {
    schema: urlOf(...postgres),
    expected: 'a postgres: URL, such as postgres://user:password@host:5432/annals',
    fallbackText: 'an embedded PostgreSQL in DATA_DIR',
    description: 'The PostgreSQL server (15 or newer) that everything is kept in.',
    secret: true,
  },
  EVENT_LOG_URL: {
    schema: urlOf(...postgres, 'esdb:', 'esdb+discover:'),
    expected: 'a postgres: or an esdb: URL',
    fallbackText: 'the database',
    description: 'The engine of the event log: PostgreSQL or EventStoreDB.',
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
    schema: urlOf('http:', 'https:'),
    expected: 'an http or https URL',
    fallback: 'http://127.0.0.1:4100',
    description: 'Where the other roles find the internal listener of the command role.',
  },
  LOG_LEVEL: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    expected: 'trace, debug, info, warn, error, fatal, or silent',
    fallback: 'info',
    description: 'The least that is logged.',
  },
  BODY_BYTES_MAX: { ...count, fallback: '1048576', description: 'The largest body of a request, in bytes.' },
  HEADER_BYTES_MAX: { ...count, fallback: '8192', description: 'The largest request line and headers together, in bytes.' },
  HEADERS_TIMEOUT_MS: { ...count, fallback: '10000', description: 'How long a client may take to send its headers.' },
  REQUEST_TIMEOUT_MS: { ...count, fallback: '30000', description: 'How long a client may take to send a whole request.' },
  CONNECTIONS_MAX: { ...count, fallback: '10000', description: 'How many clients may be connected at once.' },
  DRAIN_MS: {
    schema: integer(100, 600_000),
    expected: 'a whole number from 100 to 600000',
    fallback: '10000',
    description: 'How long a process that was told to stop may take to finish what it has begun.',
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
