import { randomInt } from 'node:crypto';
import pg from 'pg';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { demandPostgres } from './demand-postgres.ts';
import { processOf } from './session.ts';

type Addresses = { readonly databaseUrl: string; readonly directUrl?: string | undefined };

/** Whether the process receives notifications of the database, or has to poll. */
type Notifications = 'notifications' | 'polling';

const ANSWER_WITHIN_MS = 10_000;
/** Other clients of a pooler may take a session that this one has just returned. */
const ROUNDS = 5;

/**
 * Checks that DATABASE_URL is usable, and that DATABASE_DIRECT_URL, if set, leads to the same database and
 * delivers notifications.
 */
export const demandDatabase = async ({ databaseUrl, directUrl }: Addresses): Promise<Notifications> => {
  await demandPostgres({ url: databaseUrl, setting: 'DATABASE_URL' });
  await using database = await connect(databaseUrl);
  if (directUrl === undefined) return (await isPooled(database)) ? 'polling' : 'notifications';
  await demandPostgres({ url: directUrl, setting: 'DATABASE_DIRECT_URL' });
  await using direct = await connect(directUrl);
  if (await isPooled(direct)) {
    await using other = await connect(directUrl);
    if (await areLent(direct, other)) throw new StartRefused(DIRECT_IS_LENT);
  }
  if (!(await areSame(database, direct))) throw new StartRefused(DIRECT_IS_ANOTHER);
  return 'notifications';
};

const DIRECT_IS_LENT =
  'DATABASE_DIRECT_URL leads through a pooler in transaction mode, which delivers no notifications: ' +
  'set it to the server itself or to a pooler in session mode, or remove it.';
const DIRECT_IS_ANOTHER =
  'DATABASE_DIRECT_URL leads to another database than DATABASE_URL: set it to the same database, or remove it.';
type Connected = pg.Client & AsyncDisposable;

const connect = async (connectionString: string): Promise<Connected> => {
  const limits = { connectionTimeoutMillis: ANSWER_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS };
  const client = new pg.Client({ connectionString, application_name: 'annals-start', ...limits });
  // A connection that is lost between two steps fails the next.
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end().catch(() => {}) });
};

const pidOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

const isPooled = async (client: pg.Client): Promise<boolean> => (await pidOf(client)) !== processOf(client);

/** Two clients with sessions of their own never meet the same session, and always the same one as before. */
const areLent = async (one: pg.Client, other: pg.Client): Promise<boolean> => {
  const [ones, others] = [new Set<unknown>(), new Set<unknown>()];
  for (let round = 0; round < ROUNDS; round += 1) {
    ones.add(await pidOf(one));
    others.add(await pidOf(other));
  }
  return ones.size > 1 || others.size > 1 || [...ones].some((pid) => others.has(pid));
};

/** An advisory lock belongs to one database on one server. */
const areSame = async (one: pg.Client, other: pg.Client): Promise<boolean> => {
  const lock = randomInt(2 ** 32, 2 ** 48);
  await one.query('begin');
  await one.query('select pg_advisory_xact_lock($1)', [lock]);
  const { rows } = await other.query<{ isFree: boolean }>(
    'select pg_try_advisory_xact_lock($1) as "isFree"',
    [lock],
  );
  await one.query('rollback');
  return rows[0]?.isFree === false;
};
