import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { freePort } from '#shared/database/embedded/free-port.ts';
import { SCOPES } from '#shared/policy.ts';
import { runCommandLine } from '../../command-line/program.ts';
import { AUTHORITY, SERVER } from './certificates.ts';
import { temporaryDataDir } from './data-dir.ts';
import { createDatabase } from './database.ts';
import { type Nginx, startNginx } from './nginx.ts';
import { type RoleProcess, startRole } from './role-process.ts';
import { fetchWithCertificate } from './tls-fetch.ts';

/** All of Annals as an operator runs it, reached over HTTP alone. */
export type Installation = AsyncDisposable & {
  readonly topology: Topology;
  /** By what clients know it: the issuer of its tokens, and where links begin. */
  readonly url: string;
  /** Where it listens. */
  readonly origin: string;
  /** As `fetch`, for URLs that begin with `url`, wherever it listens. */
  readonly fetch: typeof fetch;
  /** Everybody's first client: a service that acts as an administrator. */
  readonly admin: { readonly clientId: string; readonly secret: string };
  /** What its processes were started with, for more of them. */
  readonly settings: Settings;
  /** The process that answers reads and streams changes. */
  readonly query: Pick<RoleProcess, 'kill'>;
  /** What its processes have printed. */
  printed(): string;
};

/** All roles in one process, or each in one of its own behind the ingress. */
type Topology = 'one' | 'roles';

type Options = {
  readonly settings?: Settings;
  /** Speaks TLS, and asks clients for certificates. */
  readonly tls?: boolean;
  /** That is there already, in the database that the settings name. */
  readonly admin?: Installation['admin'];
};

type Settings = Readonly<Record<string, string>>;
type Running = AsyncDisposable & Pick<Installation, 'origin' | 'printed' | 'settings' | 'query'>;

/** `npm run test:engines` names it; `npm test` leaves it at one process. */
const topologyOfRun = (): Topology => (process.env.ANNALS_TOPOLOGY === 'roles' ? 'roles' : 'one');

/** By Kafka where the run has one: each installation has a topic of its own there. */
const changesOfRun = (): Settings => {
  const broker = inject('kafkaBroker');
  return broker === undefined ? {} : { CHANGE_STREAM_URL: `kafka://${broker}/changes.${randomUUID()}` };
};

export const startInstallation = async ({ settings = {}, tls = false, admin: known }: Options = {}): Promise<Installation> => {
  const topology = topologyOfRun();
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const dataDir = opening.use(await temporaryDataDir());
  const given: Settings = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
    ...PLENTY,
    ...changesOfRun(),
    ...settings,
  };
  // Which production does not make by itself.
  if (given.NODE_ENV === 'production') await operate(['keys', 'rotate', '--first'], given);
  const starting = topology === 'one' ? startInOne(given, tls) : startRoles(given, tls);
  // Its first client is made meanwhile.
  const [running, admin] = await Promise.all([starting.then((started) => opening.use(started)), known ?? createAdmin(given)]);
  const { origin, printed, query } = running;
  const resources = opening.move();
  return {
    topology,
    url: running.settings.PUBLIC_URL ?? origin,
    origin,
    fetch: tls ? fetchWithCertificate(origin, undefined) : fetchAt(origin),
    admin,
    settings: running.settings,
    query,
    printed,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** All requests of a test come from one address. */
export const PLENTY = {
  RATE_LIMIT: '100000',
  RATE_LIMIT_BURST: '100000',
  RATE_LIMIT_ANONYMOUS: '100000',
  RATE_LIMIT_ANONYMOUS_BURST: '100000',
};

const fetchAt =
  (origin: string): typeof fetch =>
  (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    return fetch(new URL(pathname + search, origin), { redirect: 'manual', ...init });
  };

const READY = 'Annals is ready.';
const STARTS_MAX = 3;

/** Its address stands in tokens, so the port is chosen before the start; another program may take it in between. */
const startInOne = async (given: Settings, tls: boolean): Promise<Running> => {
  const files = tls ? await writeCertificates(given.DATA_DIR ?? '') : {};
  for (let attempt = 1; ; attempt += 1) {
    const port = String(await freePort());
    const origin = `http${tls ? 's' : ''}://127.0.0.1:${port}`;
    const settings = { PUBLIC_URL: origin, ...files, ...given };
    const main = startRole('main.ts', { ...settings, PORT: port });
    try {
      await main.logged(READY);
      return { origin, settings, query: main, printed: main.printed, [Symbol.asyncDispose]: () => main[Symbol.asyncDispose]() };
    } catch (error) {
      await main[Symbol.asyncDispose]();
      if (attempt === STARTS_MAX || !main.printed().includes('is in use')) throw error;
    }
  }
};

const writeCertificates = async (folder: string): Promise<Settings> => {
  const settings = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem'), TLS_CLIENT_CA: join(folder, 'ca.pem') };
  const { TLS_CERT, TLS_KEY, TLS_CLIENT_CA } = settings;
  await Promise.all([writeFile(TLS_CERT, SERVER.cert), writeFile(TLS_KEY, SERVER.key), writeFile(TLS_CLIENT_CA, AUTHORITY)]);
  return settings;
};

const startRoles = async (given: Settings, tls: boolean): Promise<Running> => {
  await using opening = new AsyncDisposableStack();
  const secret = randomUUID();
  const nginx: Nginx = opening.use(await startNginx({ secret, ...(tls && { tls: { ...SERVER, clientCa: AUTHORITY } }) }));
  const origin = nginx.tlsUrl ?? nginx.url;
  const behind = { TRUST_PROXY: '1', HEADER_BYTES_MAX: '32768', CLIENT_CERT_SECRET: secret };
  const settings: Settings = { PUBLIC_URL: origin, JWKS_URL: `${nginx.url}/jwks`, ...behind, ...given };
  const command = opening.use(startRole('command/main.ts', settings));
  const { url: commandUrl } = await command.logged('Commands of the other roles are taken.');
  const start = (role: string) => opening.use(startRole(`${role}/main.ts`, { ...settings, COMMAND_URL: String(commandUrl) }));
  const dispatcher = start('webhook-dispatcher');
  const roles = { command, query: start('query'), auth: start('auth'), projector: start('projector'), dispatcher };
  const addressOf = async (role: keyof typeof roles) => [new URL(String((await roles[role].logged(READY)).url)).host];
  const [to] = await Promise.all([
    Promise.all([addressOf('command'), addressOf('query'), addressOf('auth'), addressOf('dispatcher')]),
    // Nothing leads there, but what it has made others read.
    addressOf('projector'),
  ]);
  await nginx.lead({ command: to[0], query: to[1], auth: to[2], dispatcher: to[3] });
  const resources = opening.move();
  return {
    origin,
    settings,
    query: roles.query,
    printed: () =>
      Object.values(roles)
        .map((role) => role.printed())
        .join('\n'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const ADMIN = 'test-admin';

export const createAdmin = async (settings: Settings): Promise<Installation['admin']> => {
  const args = ['--id', ADMIN, '--service', '--role', 'admin', '--scope', SCOPES.join(' ')];
  const output = await operate(['client', 'create', 'Administrator', ...args], settings);
  const secret = /"secret": "([^"]+)"/.exec(output)?.[1];
  if (secret === undefined) throw new Error(`there is no first client:\n${output}`);
  return { clientId: ADMIN, secret };
};

/** By the command of operators, though in this process: starting one for it costs more than what it does. Answers with what it prints. */
export const operate = async (args: readonly string[], settings: Settings): Promise<string> => {
  const printed: string[] = [];
  const exit = await runCommandLine([...args], {
    environment: { NODE_ENV: 'test', ...settings },
    signal: new AbortController().signal,
    write: async (line) => void printed.push(line),
    complain: (line) => void printed.push(line),
  });
  const output = printed.join('\n');
  if (exit !== 0) throw new Error(`annals ${args.join(' ')} ended with ${exit}:\n${output}`);
  return output;
};
