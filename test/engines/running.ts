import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import type { Settings } from '../../testing/installation.ts';
import { AUTHORITY, SERVER } from './certificates.ts';
import { type Nginx, startNginx } from './nginx.ts';
import { type RoleProcess, startRole } from './role-process.ts';

/** An installation that has started. */
export type Running = AsyncDisposable & {
  /** Its address. */
  readonly origin: string;
  /** Their settings, to start more of them. */
  readonly settings: Settings;
  /** The replicas that answer reads and stream changes. */
  readonly query: readonly Pick<RoleProcess, 'kill'>[];
  /** Their output. */
  printed(): string;
};

const READY = 'Annals is ready.';
const STARTS_MAX = 3;

type Main = AsyncDisposable & Pick<RoleProcess, 'kill' | 'printed'>;
type StartMain = (settings: Settings) => Promise<Main>;

/** All roles in a process of their own, which tests may kill. */
export const asProcess =
  (file: string): StartMain =>
  async (settings) => {
    const main = startRole(file, settings);
    try {
      await main.logged(READY);
      return main;
    } catch (error) {
      await main[Symbol.asyncDispose]();
      throw error;
    }
  };

/**
 * Tokens contain its address, so the port is chosen before the start; another program may take it in between.
 */
export const startInOne = async (given: Settings, tls: boolean, start: StartMain): Promise<Running> => {
  const files = tls ? await writeCertificates(given.DATA_DIR ?? '') : {};
  for (let attempt = 1; ; attempt += 1) {
    const port = String(await freePort());
    const origin = `http${tls ? 's' : ''}://127.0.0.1:${port}`;
    const settings = { PUBLIC_URL: origin, ...files, ...given };
    try {
      const main = await start({ ...settings, PORT: port });
      return {
        origin,
        settings,
        query: [main],
        printed: main.printed,
        [Symbol.asyncDispose]: () => main[Symbol.asyncDispose](),
      };
    } catch (error) {
      if (attempt === STARTS_MAX || !String(error).includes('is in use')) throw error;
    }
  }
};

const writeCertificates = async (folder: string): Promise<Settings> => {
  const settings = {
    TLS_CERT: join(folder, 'cert.pem'),
    TLS_KEY: join(folder, 'key.pem'),
    TLS_CLIENT_CA: join(folder, 'ca.pem'),
  };
  const { TLS_CERT, TLS_KEY, TLS_CLIENT_CA } = settings;
  await Promise.all([
    writeFile(TLS_CERT, SERVER.cert),
    writeFile(TLS_KEY, SERVER.key),
    writeFile(TLS_CLIENT_CA, AUTHORITY),
  ]);
  return settings;
};

/** The replicas of each role. */
const COPIES = 2;

const copiesOf = <Copy>(start: () => Copy): Copy[] => Array.from({ length: COPIES }, start);

/** Each role in replicas behind the ingress; by a program that gets the name of its role, if one is given. */
export const startInCopies = async (given: Settings, tls: boolean, program?: string): Promise<Running> => {
  const fileOf = (role: string) => (program === undefined ? `${role}/main.ts` : `${program} ${role}`);
  await using opening = new AsyncDisposableStack();
  const secret = randomUUID();
  const nginx: Nginx = opening.use(
    await startNginx({ secret, ...(tls && { tls: { ...SERVER, clientCa: AUTHORITY } }) }),
  );
  const origin = nginx.tlsUrl ?? nginx.url;
  const behind = { TRUST_PROXY: '1', HEADER_BYTES_MAX: '32768', CLIENT_CERT_SECRET: secret };
  const settings: Settings = { PUBLIC_URL: origin, JWKS_URL: `${nginx.url}/jwks`, ...behind, ...given };
  const commands = copiesOf(() => opening.use(startRole(fileOf('command'), settings)));
  const internal = await Promise.all(
    commands.map((command) => command.logged('Listening for commands of other roles.')),
  );
  const commandUrl = internal.map(({ url }) => String(url)).join();
  const start = (role: string) =>
    copiesOf(() => opening.use(startRole(fileOf(role), { ...settings, COMMAND_URL: commandUrl })));
  const dispatcher = start('webhook-dispatcher');
  const roles = {
    command: commands,
    query: start('query'),
    auth: start('auth'),
    projector: start('projector'),
    dispatcher,
  };
  const addressesOf = (role: keyof typeof roles) =>
    Promise.all(roles[role].map(async (copy) => new URL(String((await copy.logged(READY)).url)).host));
  // No requests go to projectors; others read the result of their work.
  const names = ['command', 'query', 'auth', 'dispatcher', 'projector'] as const;
  const [toCommand = [], toQuery = [], toAuth = [], dispatchers = []] = await Promise.all(
    names.map(addressesOf),
  );
  await nginx.lead({ command: toCommand, query: toQuery, auth: toAuth, dispatcher: dispatchers });
  const resources = opening.move();
  return {
    origin,
    settings,
    query: roles.query,
    printed: () =>
      Object.values(roles)
        .flatMap((copies) => copies.map((copy) => copy.printed()))
        .join('\n'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
