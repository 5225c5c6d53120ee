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

/** The name of a task for a schedule. A field may have the name `schedule` too, and its reactions a dot. */
export const scheduleTask = (name: string): string => `schedule ${name}`;
export const isOfSchedule = ({ name }: ReactionTask): boolean =>
  name.startsWith(scheduleTask('')) && !name.includes('.');
/** SQL that is true if a schedule is to be looked at. */
export const isScheduleDue = (now: string): string =>
  `(wake_at <= ${now} or after_at > ${now} + interval '1 second')`;

/** The command of a time is of little use long after it: it is retried for about an hour. */
const ATTEMPTS_OF_SCHEDULES_MAX = 20;

const AT_ONCE = 100;
/** Of how many causes each turn takes tasks, beside those of the next aggregates, and how many of each. */
const CAUSES_AT_ONCE = 10;
const OF_A_CAUSE = 10;

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

/** Where the last turn ended: among the aggregates, and among the causes. */
type Cursor = { readonly stream: string; readonly cause: string };
export const START: Cursor = { stream: '', cause: '00000000-0000-0000-0000-000000000000' };

type Next = { readonly tasks: readonly ReactionTask[]; readonly cursor: Cursor };

/**
 * True if no earlier task of the aggregate remains. Evaluated per row, so that no more rows are read than
 * taken.
 */
const IS_FIRST = `t.number = (
  select f.number from process_manager.task f where f.stream = t.stream and f.skipped_at is null order by f.number limit 1)`;

/**
 * The untried first task of each of the next aggregates, a few of each of the next causes, and tasks whose
 * retry is due. Reads neither queues behind a task nor tasks that are not due. A delay longer than any pause
 * stems from before the database’s clock was set back, and counts as due.
 */
export const nextTasks = async (
  pool: Pick<Pool, 'query'>,
  { fingerprint, epoch }: Fence,
  { stream: afterStream, cause: afterCause }: Cursor,
): Promise<Next> => {
  const untriedAfter = (stream: string): string =>
    `select * from process_manager.task where skipped_at is null and next_at is null and stream > ${stream} order by stream, number limit 1`;
  const dueIf = (isDue: string): string =>
    `select * from process_manager.task t where skipped_at is null and ${isDue} and ${IS_FIRST} order by next_at limit ${AT_ONCE}`;
  const causeAfter = (cause: string): string =>
    `select cause_id from process_manager.task where skipped_at is null and next_at is null and cause_id > ${cause} order by cause_id limit 1`;
  const { rows } = await pool.query<Row>(
    `with recursive untried as (
       (${untriedAfter('$3')})
       union all select n.* from untried u cross join lateral (${untriedAfter('u.stream')}) n),
     following as (
       (${causeAfter('$4')})
       union all select n.* from following f cross join lateral (${causeAfter('f.cause_id')}) n),
     causes as materialized (select cause_id from following limit ${CAUSES_AT_ONCE}),
     of_causes as (
       select first.* from causes cross join lateral (
         select * from (
           select * from process_manager.task where cause_id = causes.cause_id and skipped_at is null and next_at is null
           order by stream, number limit ${OF_A_CAUSE}) t
         where ${IS_FIRST}) first),
     next as (
       (select *, 'aggregate' as source from untried t where ${IS_FIRST} limit ${AT_ONCE})
       union all (select *, 'cause' from of_causes)
       union all (select *, 'retry' from (${dueIf(DUE_NOW)}) due)
       union all (select *, 'retry' from (${dueIf(DUE_SINCE_SET_BACK)}) due))
     select case when (select count(*) from causes) = ${CAUSES_AT_ONCE}
         then (select cause_id from causes order by cause_id desc limit 1) end as "lastCause",
       task, stream, name, cause_id as id, cause_metadata as metadata, cause_position as position, source
     from (select) as one
     left join (select distinct on (stream) * from next where ${isFenced('$1', '$2')} order by stream, source) as next on true
     order by stream`,
    [fingerprint, epoch, afterStream, afterCause],
  );
  const found = rows.flatMap((row) => (row.stream === null ? [] : [row]));
  const inOrder = found.filter(({ source }) => source === 'aggregate');
  return {
    tasks: found.map(({ task, stream, name, id, metadata, position }) => ({
      ...{ task, stream, name },
      cause: { id, metadata, position: position ?? undefined },
    })),
    cursor: {
      stream: (inOrder.length < AT_ONCE ? undefined : inOrder.at(-1)?.stream) ?? START.stream,
      cause: rows[0]?.lastCause ?? START.cause,
    },
  };
};

type Found = Omit<ReactionTask, 'cause'> & {
  readonly id: EventId;
  readonly metadata: MetadataContext;
  readonly position: Position | null;
  readonly source: 'aggregate' | 'cause' | 'retry';
};
type Row = { readonly lastCause: string | null } & (Found | { readonly stream: null });

/**
 * Takes aggregates and causes in turn, so that no aggregate starves, and that few consequences of one event do
 * not wait for the many of another. `isLast` means that nothing more is due now.
 */
export const inTurn = (
  pool: Pick<Pool, 'query'>,
  fence: Fence,
): (() => Promise<{ tasks: readonly ReactionTask[]; isLast: boolean }>) => {
  let after = START;
  return async () => {
    const { tasks, cursor } = await nextTasks(pool, fence, after);
    const isLast = after.stream === START.stream && tasks.length === 0;
    after = cursor;
    return { tasks, isLast };
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
       next_at = ${pauseAfter('attempts', { first: '$6', max: '$7' })},
       skipped_at = case when attempts + 1 >= $10::integer then clock_timestamp() end
     where ${THIS} and ${isFenced('$8', '$9')}`,
    [
      ...keyOf(task),
      reasonOf(error),
      PAUSE_MS,
      PAUSE_MAX_MS,
      fingerprint,
      epoch,
      isOfSchedule(task) ? ATTEMPTS_OF_SCHEDULES_MAX : null,
    ],
  );
};

const THIS = 'stream = $1 and task = $2 and name = $3 and cause_id = $4';
const keyOf = ({ stream, task, name, cause }: ReactionTask): string[] => [stream, task, name, cause.id];
