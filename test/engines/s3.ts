import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from './data-dir.ts';

/** S3Proxy, a server of the S3 protocol, with an empty bucket, which verifies signatures. */
export type TestS3 = AsyncDisposable & {
  /** The BLOB_URL, with other credentials or another bucket for tests of errors. */
  url(changes?: { bucket?: string; secret?: string; prefix?: string }): string;
  /**
   * The keys of all objects in the bucket and of all unfinished multipart uploads, according to the server.
   */
  keys(): Promise<readonly string[]>;
  kill(): Promise<void>;
};

const VERSION = '2.9.0';
const ARTIFACT = `org.gaul:s3proxy:${VERSION}:jar:jar-with-dependencies`;
const FILE = `s3proxy-${VERSION}-jar-with-dependencies.jar`;
/** Outside the checkout, so that it is fetched once for all of them. */
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'annals-engines');

const isInstalled = ['java', 'mvn'].every((program) => spawnSync(program, ['-version']).status === 0);

/** Why there is no S3 here; such tests are skipped. On CI they fail instead. */
export const s3Missing: string | undefined =
  isInstalled || process.env.CI === 'true'
    ? undefined
    : 'java and mvn are not installed (Debian: apt-get install openjdk-17-jre-headless maven)';

const BUCKET = 'uploads';
const KEY = 'test-key';
/** With characters that a URL must encode. */
const SECRET = 'a/secret+with=more:than@letters';
const STARTS_MAX = 5;
const START_MS = 60_000;

export const startS3 = async (): Promise<TestS3> => {
  if (!isInstalled) throw new Error('java and mvn are not installed, and with CI=true they must be');
  await using opening = new AsyncDisposableStack();
  const jar = await fetchJar();
  const folder = opening.use(await temporaryDataDir());
  const { port, server } = await startSomewhere(jar, folder.path);
  opening.defer(() => server.kill());
  const endpoint = `http://127.0.0.1:${port}`;
  const client = opening.adopt(clientOf(endpoint), (each) => each.destroy());
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  const resources = opening.move();
  return {
    url({ bucket: name = BUCKET, secret = SECRET, prefix = '' } = {}) {
      const url = new URL(`s3://${name}/${prefix}`);
      url.username = encodeURIComponent(KEY);
      url.password = encodeURIComponent(secret);
      url.searchParams.set('endpoint', endpoint);
      return url.href;
    },
    keys: () => keysIn(client),
    kill: server.kill,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const clientOf = (endpoint: string): S3Client =>
  new S3Client({
    endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: KEY, secretAccessKey: SECRET },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });

const keysIn = async (client: S3Client): Promise<readonly string[]> => {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
  return [...Contents.map(({ Key = '' }) => Key), ...Uploads.map(({ Key = '' }) => `${Key} in parts`)];
};

/** Others may fetch it at the same time: it is moved into place once complete. */
const fetchJar = async (): Promise<string> => {
  const jar = join(CACHE, FILE);
  if (await isThere(jar)) return jar;
  await mkdir(CACHE, { recursive: true });
  const fetched = await mkdtemp(join(CACHE, 'fetching-'));
  try {
    const args = [
      '-q',
      '-B',
      'dependency:copy',
      `-Dartifact=${ARTIFACT}`,
      `-DoutputDirectory=${fetched}`,
      '-Dmdep.useBaseVersion=true',
    ];
    await promisify(execFile)('mvn', args, { cwd: fetched });
    await rename(join(fetched, FILE), jar);
  } finally {
    await rm(fetched, { recursive: true, force: true });
  }
  return jar;
};

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

type Server = { kill(): Promise<void> };

/** Another program may take the port between the choice and the start. */
const startSomewhere = async (jar: string, folder: string): Promise<{ port: number; server: Server }> => {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return { port, server: await startOn(port, jar, folder) };
    } catch (error) {
      if (attempt === STARTS_MAX) throw error;
    }
  }
};

/** The shell reads from this process until that ends, however it ends, and then ends the server. */
const KEEPER =
  'java "$@" < /dev/null > "$LOG" 2>&1 & server=$!; read -r _; kill -KILL "$server"; wait "$server"';
const QUICK_START = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m'];

const startOn = async (port: number, jar: string, folder: string): Promise<Server> => {
  const [log, settings] = [join(folder, 's3proxy.log'), join(folder, 's3proxy.conf')];
  await writeFile(settings, settingsOf(port));
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', ...QUICK_START, '-jar', jar, '--properties', settings], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, LOG: log },
  });
  const server = { kill: () => end(keeper) };
  try {
    // Its own log says so; an answer on the port might be another server's.
    await until(
      () => readFile(log, 'utf8').catch(() => ''),
      (text) => /Started Server@/.test(text),
      START_MS,
    );
    return server;
  } catch (cause) {
    await server.kill();
    throw new Error(`S3Proxy did not start: ${await readFile(log, 'utf8').catch(() => 'it wrote no log')}`, {
      cause,
    });
  }
};

const settingsOf = (port: number): string =>
  [
    `s3proxy.endpoint=http://127.0.0.1:${port}`,
    's3proxy.authorization=aws-v4',
    `s3proxy.identity=${KEY}`,
    `s3proxy.credential=${SECRET}`,
    // Its other stores leave temporary files after an interrupted upload, and cannot list the bucket then.
    'jclouds.provider=transient',
  ].join('\n');

const end = async (keeper: ChildProcess): Promise<void> => {
  if (keeper.exitCode !== null) return;
  const exited = once(keeper, 'exit');
  keeper.stdin?.end();
  await exited;
};
