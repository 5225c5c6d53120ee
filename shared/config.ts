import { resolve } from 'node:path';
import type { z } from 'zod';
import { SETTINGS, type SettingName } from './settings.ts';
import { StartRefused } from './start-refused.ts';

export type Config = {
  readonly environment: 'development' | 'production' | 'test';
  readonly http: Listener;
  readonly metrics: Listener;
  /** The command role's listener for the other roles. */
  readonly internal: Listener;
  readonly commandUrl: string;
  readonly publicUrl: string;
  readonly dataDir: string;
  /** Undefined means the embedded server. */
  readonly databaseUrl: string | undefined;
  /** Undefined means the database. */
  readonly eventLogUrl: string | undefined;
  /** Undefined means the one kept in the data folder, which production refuses. */
  readonly masterKey: string | undefined;
  readonly logLevel: z.output<typeof SETTINGS.LOG_LEVEL.schema>;
  readonly limits: HttpLimits;
  readonly drainMs: number;
};

/** Where to listen; the host undefined means all addresses. */
export type Listener = { readonly port: number; readonly host: string | undefined };

export type HttpLimits = {
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly connectionsMax: number;
};

/** `EX_CONFIG` of sysexits.h: starting again without a change is of no use. */
const EX_CONFIG = 78;

/** Settings that are missing or wrong, each in one sentence. */
export class ConfigError extends StartRefused {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'), { exitCode: EX_CONFIG });
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and checks all settings at once, so that one look at the message is enough to put everything right. */
export const loadConfig = (environment: Environment = process.env): Config => {
  const problems: string[] = [];
  const values = readSettings(environment, problems);
  if (values.NODE_ENV === 'production' && (environment.MASTER_KEY ?? '') === '') problems.push(MASTER_KEY_MISSING);
  if (problems.length > 0) throw new ConfigError(problems);
  return assemble(values);
};

const MASTER_KEY_MISSING =
  'MASTER_KEY is missing, and production does not make one up: set it to 32 random bytes in base64, made with `openssl rand -base64 32`, ' +
  'and keep a copy apart from the data, because personal fields cannot be read without it.';

type Values = { readonly [Name in SettingName]: z.output<(typeof SETTINGS)[Name]['schema']> | Fallback<(typeof SETTINGS)[Name]> };
type Fallback<Setting> = Setting extends { fallback: string } ? never : undefined;

/** An empty variable counts as unset, because that is how compose files and shells hand on what nobody has set. */
const readSettings = (environment: Environment, problems: string[]): Values => {
  const entries = (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const setting: (typeof SETTINGS)[SettingName] & { fallback?: string; secret?: boolean } = SETTINGS[name];
    const given = environment[name] || undefined;
    const text = given ?? setting.fallback;
    const result = text === undefined ? undefined : setting.schema.safeParse(text);
    if (result?.success === false) problems.push(`${name} ${setting.secret ? '' : `is “${text}” and `}must be ${setting.expected}.`);
    return [name, result?.data] as const;
  });
  // Each value came from the schema of its name, which the compiler cannot see through `Object.fromEntries`.
  return Object.fromEntries(entries) as Values;
};

const assemble = (values: Values): Config => ({
  environment: values.NODE_ENV,
  http: { port: values.PORT, host: values.HOST ?? (values.NODE_ENV === 'production' ? undefined : '127.0.0.1') },
  metrics: { port: values.METRICS_PORT, host: values.METRICS_HOST },
  internal: { port: values.INTERNAL_PORT, host: values.INTERNAL_HOST },
  commandUrl: values.COMMAND_URL,
  publicUrl: values.PUBLIC_URL ?? `http://localhost:${values.PORT}`,
  dataDir: resolve(values.DATA_DIR),
  databaseUrl: values.DATABASE_URL,
  eventLogUrl: values.EVENT_LOG_URL,
  masterKey: values.MASTER_KEY,
  logLevel: values.LOG_LEVEL,
  limits: {
    bodyBytesMax: values.BODY_BYTES_MAX,
    headerBytesMax: values.HEADER_BYTES_MAX,
    headersTimeoutMs: values.HEADERS_TIMEOUT_MS,
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    connectionsMax: values.CONNECTIONS_MAX,
  },
  drainMs: values.DRAIN_MS,
});
