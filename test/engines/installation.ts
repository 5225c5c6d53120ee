import { randomBytes } from 'node:crypto';
import { publishing } from '#domain/publishing.ts';
import type { Scan } from '#kernel/base/scan.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import type { Part } from '#process/part.ts';
import {
  createAdmin,
  type Installation as Installed,
  operate as operateOn,
  PLENTY,
  type Settings,
} from '../../testing/installation.ts';
import { temporaryDataDir } from './data-dir.ts';
import { engineSetOfRun, startEngines } from './engine-sets.ts';
import { startInThisProcess } from './in-this-process.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { asProcess, type Running, startInCopies, startInOne } from './running.ts';
import { countStart } from './starts.ts';
import { fetchWithCertificate } from './tls-fetch.ts';

export type Installation = Running & Installed & { readonly topology: Topology };

/** All roles in one process, by default that of the test; or each in replicas behind the ingress. */
type Topology = 'one' | 'copies';

type Options = {
  readonly settings?: Settings;
  /** Uses TLS, and asks clients for certificates. */
  readonly tls?: boolean;
  /** An existing one, in the database that the settings name. */
  readonly admin?: Installation['admin'];
  /** In topology `one`, a process of its own: for tests that kill it, or whose settings Node itself reads. */
  readonly ownProcess?: boolean;
  /** Another domain than the one that ships. */
  readonly of?: Served;
};

/**
 * A domain, and the file that starts all roles for it in a process of their own; the scanner and the parts are only
 * of this process.
 */
type Served = {
  readonly domain: Domain;
  readonly main?: string;
  /** The file that starts a role of it, by its name: for parts that replicas do not serve by themselves. */
  readonly program?: string;
  readonly scan?: Scan;
  readonly routes?: OwnRoutes;
  readonly parts?: readonly Part[];
};
const PUBLISHING: Served = { domain: publishing, main: 'main.ts' };

/**
 * For suites that look only at their own data, like clients of any installation: consecutive suites with the
 * same options share one.
 */
export const shareInstallation = async (options: Options = {}): Promise<Installation> => {
  const kind = JSON.stringify([engineSetOfRun(), { ...options, of: options.of?.domain.name }]);
  if (shared?.kind !== kind) await endShared();
  shared ??= { kind, installation: start(options).catch(forget) };
  return { ...(await shared.installation), [Symbol.asyncDispose]: async () => {} };
};

/** A suite's own installation. Ends the shared one first, which would only use CPU time. */
export const startInstallation = async (options: Options = {}): Promise<Installation> => {
  await endShared();
  return start(options);
};

/** If no suite with an installation of its own follows, it ends with this process (role-process.ts). */
let shared: { readonly kind: string; readonly installation: Promise<Installation> } | undefined;

/** The next suite tries again. */
const forget = (error: unknown): never => {
  shared = undefined;
  throw error;
};

const endShared = async (): Promise<void> => {
  const ending = shared;
  shared = undefined;
  await (await ending?.installation)?.[Symbol.asyncDispose]();
};

const start = async ({
  settings = {},
  tls = false,
  admin: known,
  ownProcess = settings.NODE_ENV !== undefined || settings.WORKERS !== undefined,
  of = PUBLISHING,
}: Options): Promise<Installation> => {
  const topology = engineSetOfRun() === undefined ? 'one' : 'copies';
  const isHere = topology === 'one' && !ownProcess;
  countStart('installation', `${isHere ? 'here' : topology} ${of.domain.name}`);
  await using opening = new AsyncDisposableStack();
  const databaseUrl =
    settings.DATABASE_URL ??
    opening.use(await createMigratedDatabase(of.domain === publishing ? 'publishing' : 'every domain')).url;
  const dataDir = opening.use(await temporaryDataDir());
  const engines = opening.use(await startEngines());
  const given: Settings = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
    ...PLENTY,
    ...engines.settings,
    ...settings,
  };
  // Production does not make it by itself.
  if (given.NODE_ENV === 'production') await operate(['keys', 'rotate', '--first'], given);
  const main = isHere ? startInThisProcess.bind(undefined, of) : asProcess(demandMain(of));
  const starting = topology === 'one' ? startInOne(given, tls, main) : startInCopies(given, tls, of.program);
  // Its first client is made in parallel.
  const [running, admin] = await Promise.all([
    starting.then((started) => opening.use(started)),
    known ?? createAdmin(given, of.domain),
  ]);
  const { origin } = running;
  const resources = opening.move();
  return {
    ...running,
    topology,
    domain: of.domain,
    url: running.settings.PUBLIC_URL ?? origin,
    fetch: tls ? fetchWithCertificate(origin, undefined) : fetchAt(origin),
    admin,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const demandMain = ({ domain, main }: Served): string => {
  if (main === undefined) throw new RangeError(`No file starts ${domain.name} in a process of its own`);
  return main;
};

const fetchAt =
  (origin: string): typeof fetch =>
  (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    return fetch(new URL(pathname + search, origin), { redirect: 'manual', ...init });
  };

/** Of publishing, unless another domain is served. */
export const operate = (
  args: readonly string[],
  settings: Settings,
  domain: Domain = publishing,
): Promise<string> => operateOn(args, settings, domain);
