import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from './data-dir.ts';

/** Debian's nginx with our own configuration, on a port and in a folder of its own. */
export type Nginx = AsyncDisposable & {
  readonly url: string;
  /** Its TLS address, if it ends TLS. */
  readonly tlsUrl: string | undefined;
  /** New requests go to these from now on; requests in progress finish where they are. */
  lead(to: Upstreams): Promise<void>;
  /** The log of requests so far. */
  logged(): Promise<string>;
};

/** The addresses of the replicas of each role, such as `127.0.0.1:4000`. */
type Upstreams = Readonly<Record<'command' | 'query' | 'auth', readonly string[]>> & {
  readonly dispatcher?: readonly string[];
};

type Options = {
  /** CLIENT_CERT_SECRET of the roles. */
  readonly secret: string;
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa: string };
};

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = process.env.NGINX ?? 'nginx';
/** Debian installs it where only root's PATH leads. */
const ENVIRONMENT = { PATH: `${process.env.PATH}:/usr/sbin` };

const asked = spawnSync(PROGRAM, ['-v'], { env: ENVIRONMENT, encoding: 'utf8' });
const isInstalled = asked.status === 0;
/** Debian 12 has 1.22. */
const hasHttp2Directive =
  (/nginx\/(\d+\.\d+\.\d+)/.exec(asked.stderr ?? '')?.[1] ?? '').localeCompare('1.25.1', 'en', {
    numeric: true,
  }) >= 0;
const ABSENT = `there is no ${PROGRAM} here (Debian: apt-get install nginx-light; or set NGINX to one)`;

/** Why there is no nginx here; such tests are skipped. On CI they fail instead. */
export const nginxMissing: string | undefined = isInstalled || process.env.CI === 'true' ? undefined : ABSENT;

export const demandNginx = (): void => {
  if (!isInstalled) throw new Error(ABSENT);
};

const STARTS_MAX = 5;
/** Nothing listens there. */
const NOBODY = ['127.0.0.1:1'];
const NOWHERE: Upstreams = { command: NOBODY, query: NOBODY, auth: NOBODY };

/** Starts nginx without roles behind it: its address must be known before the roles start. */
export const startNginx = async (options: Options): Promise<Nginx> => {
  demandNginx();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnFreePorts(options);
    } catch (error) {
      // Another program may take the port between the choice and the start.
      if (attempt === STARTS_MAX || !String(error).includes('Address already in use')) throw error;
    }
  }
};

const startOnFreePorts = async (options: Options): Promise<Nginx> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir()).path;
  const layout: Layout = { folder, port: await freePort(), tlsPort: await freePort() };
  await writeConfiguration(layout, options, NOWHERE);
  const server = opening.use(await startServer(folder, 'nginx.conf'));
  const resources = opening.move();
  return {
    url: `http://127.0.0.1:${layout.port}`,
    tlsUrl: options.tls && `https://localhost:${layout.tlsPort}`,
    async lead(to) {
      await writeConfiguration(layout, options, to);
      await server.reload();
    },
    logged: () => readFile(join(folder, 'requests.log'), 'utf8'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type Layout = { readonly folder: string; readonly port: number; readonly tlsPort: number };

const writeConfiguration = async (
  { folder, port, tlsPort }: Layout,
  { secret, tls }: Options,
  to: Upstreams,
): Promise<void> => {
  const settings = {
    COMMAND_SERVERS: serversOf(to.command),
    QUERY_SERVERS: serversOf(to.query),
    AUTH_SERVERS: serversOf(to.auth),
    WEBHOOK_DISPATCHER_SERVERS: serversOf(to.dispatcher ?? NOBODY),
    CLIENT_CERT_SECRET: secret,
    INGRESS_WORKERS: '2',
    INGRESS_LISTEN: `127.0.0.1:${port}`,
    INGRESS_TEMP: folder,
    INGRESS_LOG: join(folder, 'requests.log'),
    INGRESS_RESOLVER: '',
    INGRESS_TLS_LISTEN: `127.0.0.1:${tlsPort}`,
    INGRESS_TLS: folder,
  };
  const files: Record<string, string> = { 'nginx.conf': await fillIn('nginx.conf', settings) };
  if (tls !== undefined) {
    const site = await fillIn('tls.conf', settings);
    files['site/tls.conf'] = hasHttp2Directive
      ? site
      : site.replace(/ ssl;([^;]*)http2 on;/, ' ssl http2;$1');
    Object.assign(files, { 'cert.pem': tls.cert, 'key.pem': tls.key, 'client-ca.pem': tls.clientCa });
  }
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
};

const serversOf = (addresses: readonly string[]): string =>
  addresses.map((address) => `server ${address};`).join(' ');

/** Like envsubst, for these names only: `$host` and the like are nginx's own. */
export const fillIn = async (name: string, settings: Readonly<Record<string, string>>): Promise<string> => {
  const template = await readFile(join(ROOT, 'deploy', name), 'utf8');
  return template.replaceAll(/\$\{(\w+)\}/g, (found, setting: string) => settings[setting] ?? found);
};

type Server = AsyncDisposable & {
  /** New requests go by the new configuration. */
  reload(): Promise<void>;
  /** No process of before a reload is left. */
  drained(): Promise<void>;
};

/** The shell reads from this process until that ends, however it ends, and then ends the server. */
const KEEPER =
  '"$@" < /dev/null & server=$!; echo "$server"; read -r _; kill -TERM "$server"; wait "$server"';

export const startServer = async (folder: string, configuration: string): Promise<Server> => {
  const directives = 'daemon off; error_log stderr notice;';
  const args = [PROGRAM, '-p', folder, '-c', join(folder, configuration), '-g', directives];
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', ...args], {
    env: ENVIRONMENT,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  keeper.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const [line] = (await once(keeper.stdout, 'data')) as [Buffer];
  const count = (what: RegExp): number => said.match(what)?.length ?? 0;
  const printed = async (isEnough: () => boolean): Promise<void> => {
    await until(() => said.includes('[emerg]') || isEnough(), Boolean);
    if (said.includes('[emerg]')) throw new Error(`nginx refuses: ${said}`);
  };
  const stop = () => end(keeper);
  let former = 0;
  try {
    await printed(() => count(WORKER_STARTED) > 0);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async reload() {
      former = count(WORKER_STARTED);
      process.kill(Number(line.toString()), 'SIGHUP');
      await printed(() => count(WORKER_LEAVES) >= former);
    },
    drained: () => printed(() => count(WORKER_GONE) >= former),
    [Symbol.asyncDispose]: stop,
  };
};

const WORKER_STARTED = /start worker process \d+/g;
/** A worker that says this no longer listens. */
const WORKER_LEAVES = /gracefully shutting down/g;
const WORKER_GONE = /worker process \d+ exited with code/g;

const end = async (keeper: ChildProcess): Promise<void> => {
  if (keeper.exitCode !== null) return;
  const exited = once(keeper, 'exit');
  keeper.stdin?.end();
  await exited;
};
