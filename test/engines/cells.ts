import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { Agent, fetch as fetchByAgent } from 'undici';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { publishing } from '#domain/publishing.ts';
import { createAdmin, operate, PLENTY, type Settings } from '../../testing/installation.ts';
import { temporaryDataDir } from './data-dir.ts';
import { createDatabase } from './database.ts';
import { fillIn, startNginx, startServer } from './nginx.ts';
import { startRole } from './role-process.ts';

/** Two cells behind one router, as docs/scaling.md describes them: the first one is home. */
export type Cells = AsyncDisposable & {
  /** Of the router. */
  readonly url: string;
  /** The same by the host name of a tenant, which `fetch` of here finds. */
  urlOf(host: string): string;
  readonly fetch: typeof fetch;
  readonly one: Settings;
  readonly two: Settings;
  /** The router sends the hosts of tenants there, and refuses the writes of those that move. */
  route(to: { readonly cells?: string; readonly moving?: string }): Promise<void>;
  /** No request from before the last `route` is in progress. */
  drained(): Promise<void>;
  /** The router's log of requests so far. */
  logged(): Promise<string>;
  /** A service of a tenant, with a user of its own. */
  createTenant(id: string): Promise<{ readonly clientId: string; readonly secret: string }>;
};

const READY = 'Annals is ready.';
const DRAIN = '2s';

export const startCells = async (): Promise<Cells> => {
  await using opening = new AsyncDisposableStack();
  const router = opening.use(await startRouter());
  const shared = {
    ...PLENTY,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: router.url,
    TRUST_PROXY: '1',
    HEADER_BYTES_MAX: '32768',
    AUDIT_HEAD_EVERY_MS: '500',
  };
  const settingsOf = async (cell: string): Promise<Settings> => ({
    ...shared,
    DATABASE_URL: opening.use(await createDatabase()).url,
    DATA_DIR: opening.use(await temporaryDataDir()).path,
    CELL: cell,
  });
  const one = await settingsOf('0');
  const main = opening.use(startRole('main.ts', one));
  const home = new URL(String((await main.logged(READY)).url)).host;
  const two: Settings = { ...(await settingsOf('1')), JWKS_URL: `http://${home}/jwks` };
  const second = opening.use(await startWithoutAuth(two));
  await createAdmin(one, publishing);
  await router.open({ one: home, two: second.host });
  const agent = new Agent({ connect: { lookup } });
  opening.defer(() => agent.destroy());
  const resources = opening.move();
  return {
    url: router.url,
    urlOf: (host) => Object.assign(new URL(router.url), { hostname: host }).origin,
    fetch: ((input, init) =>
      fetchByAgent(input as string, { ...init, dispatcher: agent } as never)) as typeof fetch,
    one,
    two,
    route: router.route,
    drained: router.drained,
    logged: router.logged,
    async createTenant(id) {
      const scopes =
        'read:articles write:articles publish:articles write:comments read:users read:events manage:webhooks';
      const args = ['--id', id, '--service', '--role', 'author', '--scope', scopes];
      const output = await operate(['client', 'create', id, ...args], one, publishing);
      return { clientId: id, secret: /"secret": "([^"]+)"/.exec(output)?.[1] ?? '' };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** A name server that knows every tenant. */
const lookup: LookupFunction = (_host, { all }, found) =>
  all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

/** A cell that takes the tokens of another: all roles but `auth`, behind an ingress of its own. */
const startWithoutAuth = async (given: Settings): Promise<AsyncDisposable & { readonly host: string }> => {
  await using opening = new AsyncDisposableStack();
  const secret = randomUUID();
  const nginx = opening.use(await startNginx({ secret }));
  const settings = { ...given, CLIENT_CERT_SECRET: secret };
  const command = opening.use(startRole('command/main.ts', settings));
  const { url } = await command.logged('Listening for commands of other roles.');
  const others = ['query', 'webhook-dispatcher', 'projector'].map((role) =>
    opening.use(startRole(`${role}/main.ts`, { ...settings, COMMAND_URL: String(url) })),
  );
  const hosts = await Promise.all(
    [command, ...others].map(async (role) => new URL(String((await role.logged(READY)).url)).host),
  );
  const [toCommand = '', toQuery = '', toDispatcher = ''] = hosts;
  await nginx.lead({ command: [toCommand], query: [toQuery], auth: [toQuery], dispatcher: [toDispatcher] });
  const resources = opening.move();
  return { host: new URL(nginx.url).host, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

type Router = AsyncDisposable &
  Pick<Cells, 'url' | 'route' | 'drained' | 'logged'> & {
    open(cells: Readonly<Record<string, string>>): Promise<void>;
  };

/** Its address must be known before the cells start. */
const startRouter = async (): Promise<Router> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir()).path;
  const port = await freePort();
  const configure = async (cells: Readonly<Record<string, string>>): Promise<void> => {
    const upstreams = Object.entries(cells).map(
      ([name, host]) => `upstream ${name} { server ${host}; keepalive 64; }`,
    );
    const text = await fillIn('cells.conf', {
      ROUTER_LISTEN: `127.0.0.1:${port}`,
      ROUTER_TEMP: folder,
      ROUTER_LOG: join(folder, 'requests.log'),
      ROUTER_CELLS: upstreams.join(' '),
      ROUTER_HOME: 'one',
      ROUTER_DRAIN: DRAIN,
    });
    await writeFile(join(folder, 'cells.conf'), text);
  };
  const write = async ({ cells = '', moving = '' }: Parameters<Cells['route']>[0]): Promise<void> => {
    await writeFile(join(folder, 'cells.map'), cells);
    await writeFile(join(folder, 'moving.map'), moving);
  };
  await configure({ one: '127.0.0.1:1' });
  await write({});
  const server = opening.use(await startServer(folder, 'cells.conf'));
  const resources = opening.move();
  return {
    url: `http://127.0.0.1:${port}`,
    async open(cells) {
      await configure(cells);
      await server.reload();
    },
    async route(to) {
      await write(to);
      await server.reload();
    },
    drained: server.drained,
    logged: () => readFile(join(folder, 'requests.log'), 'utf8'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
