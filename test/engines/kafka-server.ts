import { execFile, spawnSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AUTHORITY, SERVER } from './certificates.ts';

/** Kafka's own server from Maven Central, with settings that make one process both controller and broker. */

const isInstalled = ['java', 'mvn'].every((program) => spawnSync(program, ['-version']).status === 0);

/** Why there is no Kafka here; such tests are skipped. On CI they fail instead. */
export const kafkaMissing: string | undefined =
  isInstalled || process.env.CI === 'true'
    ? undefined
    : 'java (17 or newer) and mvn are not installed (Debian: apt-get install openjdk-17-jre-headless maven)';

const VERSION = '4.1.0';
/** Outside the checkout, so that it is fetched once for all of them. */
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'annals-engines');

/** With a logger, because Kafka’s library has none. */
const PROJECT = `<project>
  <modelVersion>4.0.0</modelVersion><groupId>annals</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>`;

/**
 * The folder of its jars. Others may fetch them at the same time: they are moved into place once complete.
 */
export const fetchKafka = async (): Promise<string> => {
  if (!isInstalled) throw new Error('java and mvn are not installed, and with CI=true they must be');
  const jars = join(CACHE, `kafka-${VERSION}`);
  if (await isThere(jars)) return jars;
  await mkdir(CACHE, { recursive: true });
  const fetching = await mkdtemp(join(CACHE, 'fetching-'));
  try {
    await writeFile(join(fetching, 'pom.xml'), PROJECT);
    const args = [
      '-q',
      '-B',
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
      `-DoutputDirectory=${join(fetching, 'jars')}`,
    ];
    await promisify(execFile)('mvn', args, { cwd: fetching });
    await rename(join(fetching, 'jars'), jars).catch(async (error: unknown) => {
      if (!(await isThere(jars))) throw error;
    });
  } finally {
    await rm(fetching, { recursive: true, force: true });
  }
  return jars;
};

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

export type Ports = {
  readonly plain: number;
  readonly secure: number;
  readonly controller: number;
  readonly detour: number;
  /** The port to which the detour listener sends clients, and which leads to it; unused without one. */
  readonly detourBy?: number | undefined;
};

/** The number of a node, and the controllers' ports of all nodes, including this one, by number from 1 on. */
type Cluster = { readonly node: number; readonly controllers: readonly number[] };

export const USER = { name: 'annals', password: 'a secret/with+more:than@letters' };

/**
 * One listener for everybody, one with TLS and sign-in by PLAIN, and one whose clients come through another
 * port.
 */
export const settingsOf = (
  ports: Ports,
  folder: string,
  { node, controllers }: Cluster = { node: 1, controllers: [ports.controller] },
): string => {
  const listener = 'listener.name.secure.';
  const detour = (port: number) => `DETOUR://127.0.0.1:${port}`;
  return [
    'process.roles=broker,controller',
    `node.id=${node}`,
    `controller.quorum.voters=${controllers.map((port, index) => `${index + 1}@127.0.0.1:${port}`).join(',')}`,
    `listeners=PLAIN://127.0.0.1:${ports.plain},SECURE://127.0.0.1:${ports.secure},${detour(ports.detour)},CONTROLLER://127.0.0.1:${ports.controller}`,
    `advertised.listeners=PLAIN://127.0.0.1:${ports.plain},SECURE://127.0.0.1:${ports.secure},${detour(ports.detourBy ?? ports.detour)}`,
    'listener.security.protocol.map=PLAIN:PLAINTEXT,SECURE:SASL_SSL,DETOUR:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=PLAIN',
    `log.dirs=${join(folder, 'data')}`,
    'sasl.enabled.mechanisms=PLAIN',
    `${listener}plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_${USER.name}="${USER.password}";`,
    `${listener}ssl.keystore.type=PEM`,
    `${listener}ssl.keystore.certificate.chain=${inOneLine(`${SERVER.cert}\n${AUTHORITY}`)}`,
    `${listener}ssl.keystore.key=${inOneLine(inPkcs8(SERVER.key))}`,
    'num.partitions=1',
    `offsets.topic.replication.factor=${controllers.length}`,
    'offsets.topic.num.partitions=1',
    `transaction.state.log.replication.factor=${controllers.length}`,
    'transaction.state.log.min.isr=1',
    `share.coordinator.state.topic.replication.factor=${controllers.length}`,
    'share.coordinator.state.topic.min.isr=1',
    'auto.create.topics.enable=false',
    'broker.heartbeat.interval.ms=500',
    'broker.session.timeout.ms=2000',
  ].join('\n');
};

const inOneLine = (pem: string): string => pem.split('\n').join('\\n');

/** The only form that Java reads. */
const inPkcs8 = (key: string): string =>
  createPrivateKey(key).export({ format: 'pem', type: 'pkcs8' }).toString().trim();
