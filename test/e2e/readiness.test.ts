import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AnnalsProcess, startAnnals } from '../annals-process.ts';
import { type Cuttable, openCuttable } from '../engines/cuttable.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase, type TestDatabase } from '../engines/database.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';
import { inDatabase } from '../engines/search-everywhere.ts';
import { until } from '../engines/until.ts';

/** Whether `/readyz` of each role tells the truth. The log is in a database of its own, on a way that can be cut. */
const ROLES = ['command', 'query', 'projector', 'webhook-dispatcher'] as const;
type Role = (typeof ROLES)[number];

const resources = new AsyncDisposableStack();
let database: TestDatabase;
let way: Cuttable;
let settings: Readonly<Record<string, string>>;
const processes = new Map<Role | 'all', { readonly url: string }>();

const at = (url: string, port: number): string => Object.assign(new URL(url), { port: String(port) }).href;

const started = async (role: Role, given: Readonly<Record<string, string>>): Promise<{ readonly url: string }> => {
  const process: RoleProcess = resources.use(startRole(`${role}/main.ts`, given));
  return { url: String((await process.logged('Annals is ready.')).url) };
};

beforeAll(async () => {
  const { path } = resources.use(await temporaryDataDir());
  database = resources.use(await createDatabase());
  const log = resources.use(await createDatabase());
  way = resources.use(await openCuttable(log.url));
  settings = { DATA_DIR: path, DATABASE_URL: database.url, EVENT_LOG_URL: at(log.url, way.port) };
  const all: AnnalsProcess & { url: string } = resources.use(await startAnnals(settings));
  processes.set('all', all);
  const internal = resources.use(startRole('command/main.ts', { ...settings, JWKS_URL: `${all.url}/jwks` }));
  const { url: commandUrl } = await internal.logged('Commands of the other roles are taken.');
  processes.set('command', { url: String((await internal.logged('Annals is ready.')).url) });
  const others = { ...settings, JWKS_URL: `${all.url}/jwks`, COMMAND_URL: String(commandUrl) };
  for (const role of ROLES.slice(1)) processes.set(role, await started(role, others));
}, 180_000);
afterAll(() => resources.disposeAsync());

type Readiness = {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
  readonly reasons?: Readonly<Record<string, string>>;
};

const readinessOf = async (role: Role | 'all'): Promise<Readiness> =>
  (await (await fetch(new URL('/readyz', processes.get(role)?.url))).json()) as Readiness;

const isReady = ({ status }: Readiness): boolean => status === 'ready';

const allAreReady = async (): Promise<void> => {
  for (const role of processes.keys()) await until(() => readinessOf(role), isReady, 60_000);
};

/** In the database, and on every connection from then on: those that there are end. */
const setReadOnly = (value: 'on' | 'off') =>
  inDatabase(database.url, async (client) => {
    await client.query('set default_transaction_read_only = off');
    await client.query(`alter database ${database.name} set default_transaction_read_only = ${value}`);
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  });

test('on a read-only database, those that only read are ready, and the others say why they are not', async () => {
  await allAreReady();
  await setReadOnly('on');
  for (const role of ['command', 'projector', 'webhook-dispatcher', 'all'] as const) {
    const { reasons } = await until(
      () => readinessOf(role),
      ({ checks }) => checks.database === 'fail',
    );
    expect(reasons).toMatchObject({ database: 'The database is read-only.' });
  }
  await until(() => readinessOf('query'), isReady);
  expect((await fetch(`${processes.get('query')?.url}/articles`)).status).toBe(200);
  await setReadOnly('off');
  await allAreReady();
});

test('while the log is silent, those that only read are ready and answer, and the others are not', async () => {
  await allAreReady();
  for (const interrupt of [way.stall, way.cut]) {
    interrupt();
    for (const role of ['command', 'projector', 'webhook-dispatcher', 'all'] as const)
      await until(
        () => readinessOf(role),
        ({ status, checks }) => status === 'not ready' && checks['event log'] === 'fail',
      );
    const { status, checks } = await readinessOf('query');
    expect([status, checks['event log']]).toEqual(['ready', 'fail']);
    expect((await fetch(`${processes.get('query')?.url}/articles`)).status).toBe(200);
    way.mend();
    await allAreReady();
  }
});

test('a queue of webhooks without its functions is told by whoever delivers', async () => {
  await allAreReady();
  await inDatabase(database.url, async (client) => {
    const { rows } = await client.query<{ name: string; drop: string }>(
      `select oid::regprocedure::text as name, pg_get_functiondef(oid) as drop from pg_proc
       where pronamespace = 'bullmq'::regnamespace and proname = 'move_to_active'`,
    );
    expect(rows).toHaveLength(1);
    await client.query(`drop function ${rows[0]?.name}`);
    for (const role of ['webhook-dispatcher', 'all'] as const) {
      const { reasons } = await until(
        () => readinessOf(role),
        ({ status, checks }) => status === 'not ready' && checks['job queue'] === 'fail',
      );
      expect(reasons).toMatchObject({ 'job queue': expect.stringContaining('functions') });
    }
    await client.query(rows[0]?.drop ?? '');
  });
  await allAreReady();
});
