import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { publishing } from '#domain/publishing.ts';
import { createAdmin, type Installation, PLENTY, type Settings } from '../../testing/installation.ts';
import { temporaryDataDir } from './data-dir.ts';
import { createDatabase } from './database.ts';
import { type RoleProcess, startRole } from './role-process.ts';

/** All roles in several processes behind one listener, as `WORKERS=2 npm start` runs them. */
export type Workers = AsyncDisposable &
  Pick<Installation, 'url' | 'admin' | 'fetch' | 'settings'> & {
    readonly primary: RoleProcess;
    /** Its running workers, by name. */
    pids(): Promise<ReadonlyMap<string, number>>;
    metrics(): Promise<string>;
  };

export const startWorkers = async (given: Settings = {}): Promise<Workers> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const dataDir = opening.use(await temporaryDataDir());
  const [port, metricsPort] = [String(await freePort()), String(await freePort())];
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
    ...PLENTY,
    WORKERS: '2',
    PORT: port,
    METRICS_PORT: metricsPort,
    PUBLIC_URL: url,
    ...given,
  };
  const admin = await createAdmin(settings, publishing);
  const primary = opening.use(startRole('main.ts', settings));
  await primary.logged('Annals is ready.');
  const resources = opening.move();
  return {
    url,
    admin,
    settings,
    fetch,
    primary,
    pids: () => workersOf(primary.pid ?? 0),
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const workersOf = async (primary: number): Promise<ReadonlyMap<string, number>> => {
  const pids = (await readFile(`/proc/${primary}/task/${primary}/children`, 'utf8'))
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  const named = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      const name = /(?:^|\0)ANNALS_WORKER=([^\0]+)/.exec(environment)?.[1];
      return name === undefined ? [] : [[name, pid] as const];
    }),
  );
  return new Map(named.flat());
};
