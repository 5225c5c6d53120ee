import type { EventId, StreamName } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import type { ParkedTask } from '#shared/operations/consequences.ts';
import type { Cause } from './steps.ts';

/** Something to carry out by itself. */
export type Task = Pick<ParkedTask, 'task' | 'stream'> & { readonly cause: Cause };

const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 300_000;
const DOUBLINGS_MAX = 10;
const REASON_MAX = 1_000;
const AT_ONCE = 100;

/** Parks a task that failed, or puts off its next attempt. */
export const park = async (pool: Pool, { task, stream, cause }: Task, error: unknown): Promise<void> => {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX);
  await pool.query(
    `insert into process_manager.parked as known (task, stream, cause_id, cause_metadata, reason, next_at)
     values ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 millisecond')
     on conflict (task, stream) do update set reason = excluded.reason, attempts = known.attempts + 1,
       next_at = clock_timestamp() + least($6 * 2 ^ least(known.attempts, ${DOUBLINGS_MAX}), $7) * interval '1 millisecond'`,
    [task, stream, cause.id, JSON.stringify(cause.metadata), reason, PAUSE_MS, PAUSE_MAX_MS],
  );
};

/** Tasks whose next attempt has come. One that is further away than any pause was put off before the database's clock was set back. */
export const dueOf = async (pool: Pool): Promise<readonly Task[]> => {
  const { rows } = await pool.query<Pick<Task, 'task' | 'stream'> & { id: EventId; metadata: MetadataContext }>(
    `select task, stream, cause_id as id, cause_metadata as metadata from process_manager.parked
     where skipped_at is null
       and (next_at <= clock_timestamp() or next_at > clock_timestamp() + ${PAUSE_MAX_MS} * interval '1 millisecond')
     order by next_at limit ${AT_ONCE}`,
  );
  return rows.map(({ task, stream, id, metadata }) => ({ task, stream, cause: { id, metadata } }));
};

export const unpark = async (pool: Pool, { task, stream }: Pick<Task, 'task' | 'stream'>): Promise<void> => {
  await pool.query('delete from process_manager.parked where task = $1 and stream = $2', [task, stream]);
};

/** Has the process manager retry at once, also what was skipped. Returns whether there was anything. */
export const retryParkedTasks = async (pool: Pool, stream: StreamName): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `update process_manager.parked set next_at = clock_timestamp(), skipped_at = null where stream = $1`,
    [stream],
  );
  return (rowCount ?? 0) > 0;
};

/** Has the process manager leave a child as it is. An erasure cannot be skipped. Returns whether there was one. */
export const skipParkedTask = async (pool: Pool, stream: StreamName): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `update process_manager.parked set skipped_at = clock_timestamp() where stream = $1 and task = 'end' and skipped_at is null`,
    [stream],
  );
  return (rowCount ?? 0) > 0;
};
