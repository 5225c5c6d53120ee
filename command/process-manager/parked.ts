import type { EventId, StreamName } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Cause } from './steps.ts';

/** A single task: the end of a child, or the erasure of the user with this stream. */
export type Task = {
  readonly task: 'end' | 'erase';
  readonly stream: StreamName;
  /** The parent with which a child ends. A parked task has none, because it may stand for the ends of several. */
  readonly parent?: StreamName | undefined;
  readonly cause: Cause;
};

export const PAUSE_MS = 1_000;
export const PAUSE_MAX_MS = 300_000;
const DOUBLINGS_MAX = 10;
const REASON_MAX = 1_000;
const AT_ONCE = 100;

export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX);

/**
 * SQL for the time of the next attempt after that many failures; the pauses are parameters in milliseconds.
 */
export const pauseAfter = (
  attempts: string,
  { first, max }: { readonly first: string; readonly max: string },
): string =>
  `clock_timestamp() + least(${first} * 2 ^ least(${attempts}, ${DOUBLINGS_MAX}), ${max}) * interval '1 millisecond'`;

/** Parks a failed task, or delays its next attempt. */
export const park = async (pool: Pool, { task, stream, cause }: Task, error: unknown): Promise<void> => {
  await pool.query(
    `insert into process_manager.parked as known (task, stream, cause_id, cause_metadata, reason, next_at)
     values ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 millisecond')
     on conflict (task, stream) do update set reason = excluded.reason, attempts = known.attempts + 1,
       next_at = ${pauseAfter('known.attempts', { first: '$6', max: '$7' })}`,
    [task, stream, cause.id, JSON.stringify(cause.metadata), reasonOf(error), PAUSE_MS, PAUSE_MAX_MS],
  );
};

/**
 * SQL expressions that are true if a task is due. A delay longer than any pause stems from before the
 * database’s clock was set back, and counts as due. Each has an index of its own.
 */
export const DUE_NOW = 'next_at <= statement_timestamp()';
export const DUE_SINCE_SET_BACK = `next_at > statement_timestamp() + ${PAUSE_MAX_MS} * interval '1 millisecond'`;

export const dueOf = async (pool: Pool): Promise<readonly Task[]> => {
  const dueIf = (isDue: string): string =>
    `select task, stream, cause_id as id, cause_metadata as metadata from process_manager.parked
     where skipped_at is null and ${isDue} order by next_at limit ${AT_ONCE}`;
  const { rows } = await pool.query<
    Pick<Task, 'task' | 'stream'> & { id: EventId; metadata: MetadataContext }
  >(`(${dueIf(DUE_NOW)}) union all (${dueIf(DUE_SINCE_SET_BACK)})`);
  return rows.map(({ task, stream, id, metadata }) => ({ task, stream, cause: { id, metadata } }));
};

export const unpark = async (pool: Pool, { task, stream }: Pick<Task, 'task' | 'stream'>): Promise<void> => {
  await pool.query('delete from process_manager.parked where task = $1 and stream = $2', [task, stream]);
};

/** Makes the process manager retry at once, including skipped tasks. Returns whether there were any. */
export const retryParkedTasks = async (pool: Pool, stream: StreamName): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `with ended as (
       update process_manager.parked set next_at = clock_timestamp(), skipped_at = null where stream = $1 returning stream),
     reacted as (
       update process_manager.task set next_at = clock_timestamp(), skipped_at = null where stream = $1 and attempts > 0 returning stream)
     select from ended union all select from reacted`,
    [stream],
  );
  return (rowCount ?? 0) > 0;
};

/**
 * Makes the process manager skip failed tasks, and continue with those behind them. An erasure cannot be
 * skipped. Returns whether there were any.
 */
export const skipParkedTask = async (pool: Pool, stream: StreamName): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `with ended as (
       update process_manager.parked set skipped_at = clock_timestamp() where stream = $1 and task = 'end' and skipped_at is null returning stream),
     reacted as (
       update process_manager.task set skipped_at = clock_timestamp() where stream = $1 and attempts > 0 and skipped_at is null returning stream)
     select from ended union all select from reacted`,
    [stream],
  );
  return (rowCount ?? 0) > 0;
};
