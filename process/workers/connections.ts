import { openPool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';

/** With many workers each needs fewer: another worker could not do waiting work faster. */
const FEW_WORKERS_MAX = 2;
const OF_FOUNDATION = { few: 8, many: 4 };

/** For the pool that everything in a worker shares. */
export const foundationConnections = (workers: number): number =>
  workers > FEW_WORKERS_MAX ? OF_FOUNDATION.many : OF_FOUNDATION.few;

/**
 * The maximum of a worker’s other connections, those of the followers’ worker, and a reserve for an operator
 * and a replacement.
 */
const OF_SERVING = 13;
const OF_FOLLOWERS = 23;
const BESIDE = 35;

/** The maximum of all workers together. */
const connectionsOf = (workers: number): number =>
  workers * (OF_SERVING + foundationConnections(workers)) + OF_FOLLOWERS + BESIDE;

/** Configures the embedded server for them; its own default is for one process. */
export const embeddedConnections = (workers: number): Readonly<Record<string, string>> => {
  const needed = connectionsOf(workers);
  return needed > EMBEDDED_DEFAULT ? { max_connections: String(needed) } : {};
};
const EMBEDDED_DEFAULT = 200;

/** Too few connections show only under load, by 503 responses. */
export const warnOfFewConnections = async (url: string, workers: number, log: Log): Promise<void> => {
  await using pool = openPool({ url, applicationName: 'annals-start', connectionsMax: 1 });
  const { rows } = await pool.query<{ allowed: number }>(
    `select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as allowed`,
  );
  const allowed = rows[0]?.allowed ?? 0;
  const needed = connectionsOf(workers);
  if (needed > allowed)
    log.warn(
      { workers, needed, allowed },
      'The workers may need more connections than PostgreSQL allows: raise its max_connections.',
    );
};
