import { expect } from 'vitest';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { startAnnals } from '../annals-process.ts';
import { anEvent, aStream } from '../contracts/event-log-engine.ts';
import { ageLog } from '../engines/age-log.ts';
import { openCuttable } from '../engines/cuttable.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { test as base } from '../engines/pool.ts';
import { startRole } from '../engines/role-process.ts';

// Own server: it starts single roles, and takes away what they need in the database.

/** Tests `/readyz` of each role. The log is in a database of its own, on a path that can be cut. */
const ROLES = ['command', 'query', 'projector', 'webhook-dispatcher'] as const;
type Role = (typeof ROLES)[number];

type Readiness = {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
  readonly reasons?: Readonly<Record<string, string>>;
};
const isReady = ({ status }: Readiness): boolean => status === 'ready';

const at = (url: string, port: number): string => Object.assign(new URL(url), { port: String(port) }).href;

const test = base
  .extend('logUrl', { scope: 'file' }, async ({ databaseOptions }, { onCleanup }) => {
    const log = await createDatabase(databaseOptions);
    onCleanup(() => log[Symbol.asyncDispose]());
    return log.url;
  })
  .extend('way', { scope: 'file' }, async ({ logUrl }, { onCleanup }) => {
    const way = await openCuttable(logUrl);
    onCleanup(() => way[Symbol.asyncDispose]());
    return way;
  })
  /** The URL of each role's process. */
  .extend('processes', { scope: 'file' }, async ({ database, logUrl, way }, { onCleanup }) => {
    const resources = new AsyncDisposableStack();
    onCleanup(() => resources.disposeAsync());
    const { path } = resources.use(await temporaryDataDir());
    const settings = { DATA_DIR: path, DATABASE_URL: database.url, EVENT_LOG_URL: at(logUrl, way.port) };
    const all = resources.use(await startAnnals(settings));
    const ofRole = { ...settings, JWKS_URL: `${all.url}/jwks` };
    const processes = new Map<Role | 'all', string>([['all', all.url]]);
    const start = (role: Role, given: Readonly<Record<string, string>>) =>
      resources.use(startRole(`${role}/main.ts`, given));
    const command = start('command', ofRole);
    const { url: commandUrl } = await command.logged('Listening for commands of other roles.');
    processes.set('command', String((await command.logged('Annals is ready.')).url));
    for (const role of ROLES.slice(1)) {
      const { url } = await start(role, { ...ofRole, COMMAND_URL: String(commandUrl) }).logged(
        'Annals is ready.',
      );
      processes.set(role, String(url));
    }
    return processes;
  })
  .extend('readinessOf', { scope: 'file' }, ({ processes }) => async (role: Role | 'all') => {
    const response = await fetch(new URL('/readyz', processes.get(role)));
    return (await response.json()) as Readiness;
  })
  .extend('allAreReady', { scope: 'file' }, ({ processes, readinessOf }) => async (): Promise<void> => {
    for (const role of processes.keys()) await until(() => readinessOf(role), isReady, 60_000);
  })
  /** In the database, and on every future connection: current ones are ended. */
  .extend('setReadOnly', { scope: 'file' }, ({ database }) => (value: 'on' | 'off') => {
    return inDatabase(database.url, async (client) => {
      await client.query('set default_transaction_read_only = off');
      await client.query(`alter database ${database.name} set default_transaction_read_only = ${value}`);
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    });
  });

test.beforeAll(({ allAreReady }) => allAreReady(), 180_000);

test('on a read-only database, roles that only read are ready, and the others give the reason', async ({
  allAreReady,
  processes,
  readinessOf,
  setReadOnly,
}) => {
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
  expect((await fetch(`${processes.get('query')}/articles`)).status).toBe(200);
  await setReadOnly('off');
  await allAreReady();
});

test('while the log does not answer, roles that only read are ready and answer, and the others are not', async ({
  allAreReady,
  processes,
  readinessOf,
  way,
}) => {
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
    expect((await fetch(`${processes.get('query')}/articles`)).status).toBe(200);
    way.mend();
    await allAreReady();
  }
});

test('a stalled follower is reported by its processes, with position and reason', async ({
  allAreReady,
  database,
  logUrl,
  readinessOf,
}) => {
  await allAreReady();
  await using pool = openPool({ url: logUrl, applicationName: 'test', connectionsMax: 1 });
  await using eventLog = await openEventLog({ url: logUrl, clock: REAL_TIME });
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

test('a queue of webhooks without its functions is reported by the dispatcher', async ({
  allAreReady,
  database,
  readinessOf,
}) => {
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
