import pg from 'pg';
import type { Cluster } from './cluster.ts';
import { EmbeddedPostgresFailed } from './errors.ts';

/**
 * Spells `anna` in bytes. The owner of a cluster holds the advisory lock of this number in the database
 * `postgres`.
 */
const OWNER_LOCK = 0x616e6e61;
const CONNECT_TIMEOUT_MS = 5_000;
const NAME_PREFIX = 'annals owner ';

/**
 * The connection that holds the lock, or the present owner, or undefined while the server accepts no
 * connections.
 */
type LockAttempt = pg.Client | { readonly heldBy: string } | undefined;

/**
 * Tries to become the owner. The lock lasts as long as the connection, so it is free as soon as its owner is
 * dead.
 */
export const tryOwnerLock = async (cluster: Cluster, port: number): Promise<LockAttempt> => {
  const client = await connect(cluster, port);
  if (client === undefined) return undefined;
  try {
    const result = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      OWNER_LOCK,
    ]);
    if (result.rows[0]?.locked === true) return client;
    const heldBy = (await findOwner(client)) ?? '';
    await client.end();
    return { heldBy: heldBy.startsWith(NAME_PREFIX) ? ` (process ${heldBy.slice(NAME_PREFIX.length)})` : '' };
  } catch {
    // The server has stopped, or is about to.
    await client.end().catch(() => {});
    return undefined;
  }
};

/** Whether a running server has an owner who is alive. */
export const isOwned = async (cluster: Cluster, port: number): Promise<boolean> => {
  const client = await connect(cluster, port);
  if (client === undefined) return false;
  try {
    return (await findOwner(client)) !== undefined;
  } finally {
    await client.end();
  }
};

export const urlOf = ({ user, password }: Cluster, port: number, database: string): string =>
  `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;

const findOwner = async (client: pg.Client): Promise<string | undefined> => {
  const result = await client.query<{ name: string }>(
    `select a.application_name as name
       from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = $1`,
    [OWNER_LOCK],
  );
  return result.rows[0]?.name;
};

const connect = async (cluster: Cluster, port: number): Promise<pg.Client | undefined> => {
  const client = new pg.Client({
    connectionString: urlOf(cluster, port, 'postgres'),
    application_name: `${NAME_PREFIX}${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // The server ends this connection when it stops; the owner listens for that.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (cause) {
    await client.end().catch(() => {});
    if (cause instanceof pg.DatabaseError && cause.code?.startsWith('28') === true) {
      throw new EmbeddedPostgresFailed(
        'The password in postgres.json does not match its database: restore the file from a backup.',
        {
          cause,
        },
      );
    }
    return undefined;
  }
};
