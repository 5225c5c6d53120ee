import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { type AnnalsProcess, startAnnals } from '../annals-process.ts';
import { anEvent, aStream } from '../contracts/event-log-engine.ts';
import { ageLog } from '../engines/age-log.ts';
import { type Cuttable, openCuttable } from '../engines/cuttable.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase, type TestDatabase } from '../engines/database.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';

// Own server: it starts single roles, and takes away what they need in the database.

/** Tests `/readyz` of each role. The log is in a database of its own, on a path that can be cut. */
const ROLES = ['command', 'query', 'projector', 'webhook-dispatcher'] as const;
type Role = (typeof ROLES)[number];

const resources = new AsyncDisposableStack();
let database: TestDatabase;
let way: Cuttable;
let logUrl: string;
let settings: Readonly<Record<string, string>>;
const processes = new Map<Role | 'all', { readonly url: string }>();

const at = (url: string, port: number): string => Object.assign(new URL(url), { port: String(port) }).href;

const started = async (
  role: Role,
  given: Readonly<Record<string, string>>,
): Promise<{ readonly url: string }> => {
  const process: RoleProcess = resources.use(startRole(`${role}/main.ts`, given));
  return { url: String((await process.logged('Annals is ready.')).url) };
};

beforeAll(async () => {
  const { path } = resources.use(await temporaryDataDir());
  database = resources.use(await createDatabase());
  const log = resources.use(await createDatabase());
  logUrl = log.url;
  way = resources.use(await openCuttable(logUrl));
  settings = { DATA_DIR: path, DATABASE_URL: database.url, EVENT_LOG_URL: at(log.url, way.port) };
  const all: AnnalsProcess & { url: string } = resources.use(await startAnnals(settings));
  processes.set('all', all);
  const internal = resources.use(startRole('command/main.ts', { ...settings, JWKS_URL: `${all.url}/jwks` }));
  const { url: commandUrl } = await internal.logged('Listening for commands of other roles.');
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

/** In the database, and on every future connection: current ones are ended. */
const setReadOnly = (value: 'on' | 'off') =>
  inDatabase(database.url, async (client) => {
    await client.query('set default_transaction_read_only = off');
    await client.query(`alter database ${database.name} set default_transaction_read_only = ${value}`);
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  });

test('on a read-only database, roles that only read are ready, and the others give the reason', async () => {
  await allAreReady();
  await setReadOnly('on');
  for (const role of ['command', 'projector', 'webhook-dispatcher', 'all'] as const) {
    // A check on a connection that was just ended fails without a reason; the next one has it.
    await until(
      () => readinessOf(role),
      ({ reasons }) => reasons?.database === 'The database is read-only.',
    );
  }
  await until(() => readinessOf('query'), isReady);
  expect((await fetch(`${processes.get('query')?.url}/articles`)).status).toBe(200);
  await setReadOnly('off');
  await allAreReady();
});

test('while the log does not answer, roles that only read are ready and answer, and the others are not', async () => {
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

test('a stalled follower is reported by its processes, with position and reason', async () => {
  await allAreReady();
  await using pool = openPool({ url: logUrl, applicationName: 'test', connectionsMax: 1 });
  await using eventLog = await openEventLog({ url: logUrl });
  await inDatabase(database.url, async (client) => {
    await client.query(`create function public.refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before update of position on public.follower_checkpoint for each row when (old.follower = 'projector')
        execute function public.refuse()`);
    await eventLog.append(aStream(), NO_STREAM, [anEvent()]);
    await ageLog(pool, 2);
    await client.query(
      `update public.follower_checkpoint set moved_at = now() - interval '1 hour' where follower = 'projector'`,
    );
    const answers = await Promise.all(
      (['projector', 'all'] as const).map((role) =>
        until(
          () => readinessOf(role),
          ({ status, checks }) => status === 'not ready' && checks.followers === 'fail',
        ),
      ),
    );
    for (const { reasons } of answers)
      expect(reasons?.followers).toMatch(
        /^The follower projector has made no progress for \d+ s at position \d+, and the log ends at \d+/,
      );
    // One of the two has the lease, and fails.
    await until(
      async () =>
        (await Promise.all([readinessOf('projector'), readinessOf('all')]))
          .map(({ reasons }) => reasons?.followers ?? '')
          .join(' '),
      (words) => words.includes('PostgreSQL says refused (P0001)'),
    );
    for (const role of ['query', 'command'] as const) await until(() => readinessOf(role), isReady);
    await client.query('drop function public.refuse cascade');
  });
  await allAreReady();
});

test('a queue of webhooks without its functions is reported by the dispatcher', async () => {
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
