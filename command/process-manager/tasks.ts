import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { type Fence, isFenced } from './fence.ts';
import { DUE_NOW, DUE_SINCE_SET_BACK, PAUSE_MAX_MS, PAUSE_MS, pauseAfter, reasonOf } from './parked.ts';
import type { Cause } from './steps.ts';

/** A consequence of an event for one aggregate. */
export type ReactionTask = {
  readonly task: 'run' | 'react';
  readonly stream: StreamName;
  /** The name of the reaction, `team team.closed`, or of the event. */
  readonly name: string;
  readonly cause: Cause;
};

/** The name of a task for a timer; the name of a reaction contains an event type, and so a dot. */
export const timerTask = (name: string): string => `timer ${name}`;
export const isOfTimer = ({ name }: ReactionTask): boolean =>
  name.startsWith(timerTask('')) && !name.includes('.');

const AT_ONCE = 100;

/** Adds tasks in order; existing ones stay unchanged. */
export const addTasks = async (
  connection: Pick<Connection, 'query'>,
  tasks: readonly ReactionTask[],
): Promise<void> => {
  if (tasks.length === 0) return;
  await connection.query(
    `insert into process_manager.task (task, stream, name, cause_id, cause_metadata, cause_position)
     select task, stream, name, cause_id, cause_metadata, cause_position
     from unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::jsonb[], $6::bigint[])
       with ordinality as t (task, stream, name, cause_id, cause_metadata, cause_position, place) order by place
     on conflict do nothing`,
    [
      tasks.map(({ task }) => task),
      tasks.map(({ stream }) => stream),
      tasks.map(({ name }) => name),
      tasks.map(({ cause }) => cause.id),
      tasks.map(({ cause }) => JSON.stringify(cause.metadata)),
      tasks.map(({ cause }) => cause.position),
    ],
  );
};

type Next = { readonly task: ReactionTask; readonly isRetry: boolean };

/**
 * True if no earlier task of the aggregate remains. Evaluated per row, so that no more rows are read than
 * taken.
 */
const IS_FIRST = `t.number = (
  select f.number from process_manager.task f where f.stream = t.stream and f.skipped_at is null order by f.number limit 1)`;

/**
 * The untried first task of each of the next aggregates, and tasks whose retry is due. Reads neither queues
 * behind a task nor tasks that are not due. A delay longer than any pause stems from before the database’s
 * clock was set back, and counts as due.
 */
export const nextTasks = async (
  pool: Pick<Pool, 'query'>,
  { fingerprint, epoch }: Fence,
  after: string,
): Promise<readonly Next[]> => {
  const untriedAfter = (stream: string): string =>
    `select * from process_manager.task where skipped_at is null and next_at is null and stream > ${stream} order by stream, number limit 1`;
  const dueIf = (isDue: string): string =>
    `select * from process_manager.task t where skipped_at is null and ${isDue} and ${IS_FIRST} order by next_at limit ${AT_ONCE}`;
  const { rows } = await pool.query<
    Omit<ReactionTask, 'cause'> & {
      id: EventId;
      metadata: MetadataContext;
      position: Position | null;
      isRetry: boolean;
    }
  >(
    `with recursive untried as (
       (${untriedAfter('$3')})
       union all select n.* from untried u cross join lateral (${untriedAfter('u.stream')}) n),
     next as (
       (select * from untried t where ${IS_FIRST} limit ${AT_ONCE})
       union all (${dueIf(DUE_NOW)}) union all (${dueIf(DUE_SINCE_SET_BACK)}))
     select task, stream, name, cause_id as id, cause_metadata as metadata, cause_position as position, next_at is not null as "isRetry"
     from next
     where ${isFenced('$1', '$2')} order by stream`,
    [fingerprint, epoch, after],
  );
  return rows.map(({ id, metadata, position, isRetry, ...task }) => ({
    task: { ...task, cause: { id, metadata, position: position ?? undefined } },
    isRetry,
  }));
};

/** Takes aggregates in turn, so that none starves. `isLast` means that nothing more is due now. */
export const inTurn = (
  pool: Pick<Pool, 'query'>,
  fence: Fence,
): (() => Promise<{ tasks: readonly ReactionTask[]; isLast: boolean }>) => {
  let after = '';
  return async () => {
    const next = await nextTasks(pool, fence, after);
    const isLast = after === '' && next.length === 0;
    const untried = next.filter(({ isRetry }) => !isRetry);
    after = untried.length < AT_ONCE ? '' : (untried.at(-1)?.task.stream ?? '');
    return { tasks: next.map(({ task }) => task), isLast };
  };
};

export const dropTask = async (
  pool: Pool,
  task: ReactionTask,
  { fingerprint, epoch }: Fence,
): Promise<void> => {
  await pool.query(`delete from process_manager.task where ${THIS} and ${isFenced('$5', '$6')}`, [
    ...keyOf(task),
    fingerprint,
    epoch,
  ]);
};

/** Parks a failed task, or delays its next attempt; later tasks of its aggregate wait. */
export const parkTask = async (
  pool: Pool,
  task: ReactionTask,
  { fingerprint, epoch }: Fence,
  error: unknown,
): Promise<void> => {
  await pool.query(
    `update process_manager.task set reason = $5, attempts = attempts + 1, parked_at = coalesce(parked_at, clock_timestamp()),
       next_at = ${pauseAfter('attempts', { first: '$6', max: '$7' })}
     where ${THIS} and ${isFenced('$8', '$9')}`,
    [...keyOf(task), reasonOf(error), PAUSE_MS, PAUSE_MAX_MS, fingerprint, epoch],
  );
};

const THIS = 'stream = $1 and task = $2 and name = $3 and cause_id = $4';
const keyOf = ({ stream, task, name, cause }: ReactionTask): string[] => [stream, task, name, cause.id];
