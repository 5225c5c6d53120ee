import { StartRefused } from '#kernel/base/start-refused.ts';
import packageJson from '../package.json' with { type: 'json' };

/**
 * Packages that only their users need, by the operator’s name for the engine: they are dependencies of the
 * repository, but npm package users install them themselves.
 */
export const ENGINES = {
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
} as const;

/** Loads the adapter of an engine. If its packages are missing, the error says how to install them. */
export const loadEngine = async <Adapter>(
  engine: keyof typeof ENGINES,
  load: () => Promise<Adapter>,
): Promise<Adapter> => {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const isMissing =
      NOT_FOUND.has(String(code)) && ENGINES[engine].some((name) => message.includes(`'${name}'`));
    if (!isMissing && !NO_BINARY.test(message)) throw cause;
    throw new StartRefused(
      `${engine} needs packages that are not installed: run npm install ${namesOf(engine)}.`,
      { cause },
    );
  }
};

/** Of a package whose binary for this machine was left out, as by `--omit=optional`. */
const NO_BINARY = /native binding/;
const NOT_FOUND = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** With the versions that Annals is tested with. */
const namesOf = (engine: keyof typeof ENGINES): string =>
  [
    ...(engine === FOR_TESTS ? ['--save-dev'] : []),
    ...ENGINES[engine].map((name) => `${name}@${VERSIONS[name]}`),
  ].join(' ');

const FOR_TESTS = 'describeDomain';

type Versions = Readonly<Record<string, string>>;
type Manifest = {
  readonly dependencies: Versions;
  readonly devDependencies?: Versions;
  readonly peerDependencies?: Versions;
};
const { dependencies, devDependencies, peerDependencies }: Manifest = packageJson;
const VERSIONS: Versions = { ...dependencies, ...devDependencies, ...peerDependencies };
