import {
  connectEmbeddedPostgres,
  hasEmbeddedPostgres,
  startEmbeddedPostgres,
} from '#adapters/embedded-postgres/embedded.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { demandDatabase } from '#shared/database/demand-database.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { spanText } from '#shared/format.ts';
import { type Diagnosis, type Examined, fail, ok, refusal, warn } from './diagnosis.ts';
import { keys } from './keys.ts';
import { migrations } from './migrations.ts';

const CONNECTIONS_MAX = 2;

/** Checks the database, and everything that only it knows. */
export const database = async (examined: Examined): Promise<readonly Diagnosis[]> => {
  await using resources = new AsyncDisposableStack();
  const reached = await reach(examined, resources);
  if ('outcome' in reached) return [reached];
  const pool = resources.use(
    openPool({ url: reached.url, applicationName: 'annals-command-line', connectionsMax: CONNECTIONS_MAX }),
  );
  const server = await serverOf(pool);
  const found: Diagnosis[] = [...reached.found, ok(`PostgreSQL ${server.version} answers${reached.how}.`)];
  found.push(
    ...settingsOf(server),
    connectionsOf(server),
    await clockSkew(pool),
    ...(await migrations(pool)),
    ...(await keys(pool, examined)),
  );
  return found;
};

type Reached = { readonly url: string; readonly how: string; readonly found: readonly Diagnosis[] };

/** A finding if there is no database: an `ok` one before the first start of the embedded one. */
export const reach = async (
  { config, signal }: Examined,
  resources: AsyncDisposableStack,
): Promise<Reached | Diagnosis> => {
  const { databaseUrl, databaseDirectUrl: directUrl, dataDir } = config;
  try {
    if (databaseUrl !== undefined) {
      const notifications = await demandDatabase({ databaseUrl, directUrl });
      const found =
        notifications === 'polling'
          ? [
              warn(
                'DATABASE_URL points to a pooler.',
                'set DATABASE_DIRECT_URL to the server itself, so that processes need not poll for changes.',
              ),
            ]
          : [];
      return { url: databaseUrl, how: ' at DATABASE_URL', found };
    }
    const running = await connectEmbeddedPostgres(dataDir);
    if (running !== undefined) return { url: running, how: ' in DATA_DIR, where Annals runs', found: [] };
    if (!(await hasEmbeddedPostgres(dataDir)))
      return ok(`There is no data in ${dataDir} yet: npm start creates it.`);
    const started = resources.use(await startEmbeddedPostgres({ dataDir, signal }));
    return { url: started.url, how: ' in DATA_DIR; it was started for this check', found: [] };
  } catch (error) {
    if (error instanceof StartRefused) return refusal(error.message);
    return fail(
      `The database cannot be reached (${(error as Error).message}).`,
      'start it, or correct DATABASE_URL or DATA_DIR.',
    );
  }
};

type Server = {
  readonly version: string;
  readonly connectionsMax: number;
  readonly reserved: number;
  readonly ours: number;
  readonly all: number;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly autovacuum: string;
};

const serverOf = async (pool: Pool): Promise<Server> => {
  const { rows } = await pool.query<Server>(
    `select current_setting('server_version') as version,
       current_setting('max_connections')::int as "connectionsMax",
       current_setting('superuser_reserved_connections')::int as reserved,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend' and application_name like 'annals%'
          and application_name <> 'annals-command-line') as ours,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as all,
       current_setting('fsync') as fsync, current_setting('full_page_writes') as "fullPageWrites", current_setting('autovacuum') as autovacuum`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error('PostgreSQL did not report its settings');
  return server;
};

const settingsOf = ({ fsync, fullPageWrites, autovacuum }: Server): readonly Diagnosis[] => [
  ...(fsync === 'off'
    ? [
        fail(
          'PostgreSQL does not wait for the disk (fsync is off).',
          'set fsync to on: a crash of the machine may destroy the database.',
        ),
      ]
    : []),
  ...(fullPageWrites === 'off' && fsync === 'on'
    ? [warn('full_page_writes is off.', 'set it to on, unless the file system prevents torn pages.')]
    : []),
  ...(autovacuum === 'off'
    ? [warn('autovacuum is off.', 'set it to on: tables grow and plans get worse without it.')]
    : []),
];

/** The most connections of one process with one role (docs/deployment.md, Connections to PostgreSQL). */
const OF_ONE_PROCESS = 25;

const connectionsOf = ({ connectionsMax, reserved, ours, all }: Server): Diagnosis => {
  const free = Math.max(0, connectionsMax - reserved - all);
  const says = `Of ${connectionsMax} connections (max_connections), Annals has ${ours} and others ${Math.max(0, all - ours)}; ${free} are free.`;
  const remedy =
    'raise max_connections, or put a pooler in front (docs/deployment.md, Connections to PostgreSQL).';
  return free < OF_ONE_PROCESS
    ? warn(`${says} One more process may use ${OF_ONE_PROCESS}.`, remedy)
    : ok(says);
};

const SKEW_WARN_S = 1;
const SKEW_FAIL_S = 30;

/** Accurate to half of the round trip. */
const clockSkew = async (pool: Pool): Promise<Diagnosis> => {
  const beganMs = Date.now();
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const endedMs = Date.now();
  const theirsMs = rows[0]?.now.getTime() ?? 0;
  const skewS = Math.max(0, theirsMs - endedMs, beganMs - theirsMs) / 1_000;
  if (skewS < SKEW_WARN_S) return ok('The clocks of this machine and of the database agree.');
  const says = `The clocks of this machine and of the database differ by ${spanText(skewS)}.`;
  const remedy = 'synchronize both with NTP: tokens, timers and times of events depend on them.';
  return skewS < SKEW_FAIL_S ? warn(says, remedy) : fail(says, remedy);
};
