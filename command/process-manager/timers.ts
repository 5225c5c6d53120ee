import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import { findBy } from '#kernel/decide/guards.ts';
import { conditionOf, stateAt, type TimerState, timerStatesOf } from '#kernel/decide/timers.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { LASTING } from '#shared/follower/pass.ts';
import { createReferenceReader } from '../aggregates/read-references.ts';
import { allDone, doOrPark, type TaskDependencies } from './execute-task.ts';
import { demandFence, type Fence } from './fence.ts';
import { createHistories } from './histories.ts';
import { eventIdOf, kindOfStream, type ReactDependencies } from './react.ts';
import type { Cause } from './steps.ts';
import { addTasks, parkTask, type ReactionTask, timerTask } from './tasks.ts';

const AT_ONCE = 100;

/** The name of a task that recomputes the timers of an aggregate after a failure. */
const LOOK = 'timers';
/** An event may have the same name, with code that reacts to it. */
export const isLook = ({ task, name }: ReactionTask): boolean => task === 'run' && name === LOOK;

type LookDependencies = ReactDependencies & TaskDependencies;
export type Look = {
  /** Recomputes timers of aggregates with a new event or a due timer. Returns whether there were any. */
  atAll(fence: Fence): Promise<boolean>;
  at(stream: StreamName, fence: Fence): Promise<void>;
};

/**
 * Computes timers from the whole history of their aggregate in the log, so that a lag here never sends a
 * command too early.
 */
export const createLook = (dependencies: LookDependencies): Look => {
  const { pool, clock } = dependencies;
  const look = lookOf(dependencies);
  // Constant within the statement, so that an index applies.
  const now = `(statement_timestamp() + $1 * interval '1 millisecond')`;
  return {
    async atAll(fence) {
      const { rows } = await pool.query<Looked & { id: EventId; metadata: MetadataContext }>(
        `with marked as (select stream, position, cause_id, cause_metadata from process_manager.timer_mark order by position limit ${AT_ONCE}),
         due as (
           select distinct on (stream) stream, 0 as position, cause_id, cause_metadata from process_manager.timer
           where due_at <= ${now} and stream not in (select stream from marked) limit ${AT_ONCE})
         select stream, position, cause_id as id, cause_metadata as metadata, (extract(epoch from ${now}) * 1000)::float8 as "nowMs"
         from (select * from marked union all select * from due) as looked`,
        [clock.aheadMs()],
      );
      await allDone(
        rows.map(({ id, metadata, ...looked }) => {
          const task: ReactionTask = {
            task: 'run',
            stream: looked.stream,
            name: LOOK,
            cause: { id, metadata },
          };
          return doOrPark(dependencies, task, {
            work: () => look(looked, fence),
            park: (error) => parkLook(pool, task, fence, error),
          });
        }),
      );
      return rows.length > 0;
    },
    async at(stream, fence) {
      const { rows } = await pool.query<{ nowMs: number }>(
        `select (extract(epoch from ${now}) * 1000)::float8 as "nowMs"`,
        [clock.aheadMs()],
      );
      for (const { nowMs } of rows) await look({ stream, position: 0 as Position, nowMs }, fence);
    },
  };
};

const parkLook = async (pool: Pool, task: ReactionTask, fence: Fence, error: unknown): Promise<void> => {
  await inTransaction(
    pool,
    async (connection) => {
      await demandFence(connection, fence, 'for share');
      await addTasks(connection, [task]);
      await connection.query('delete from process_manager.timer where stream = $1', [task.stream]);
      await connection.query('delete from process_manager.timer_mark where stream = $1', [task.stream]);
    },
    LASTING,
  );
  await parkTask(pool, task, fence, error);
};

type Looked = { readonly stream: StreamName; readonly position: Position; readonly nowMs: number };

const lookOf = (dependencies: LookDependencies): ((looked: Looked, fence: Fence) => Promise<void>) => {
  const { domain, pool, states } = dependencies;
  const readReferences = createReferenceReader(domain, states);
  const historyOf = createHistories(dependencies);
  return async ({ stream, position, nowMs }, fence) => {
    const kind = kindOfStream(domain, stream);
    const history = kind === undefined ? [] : await historyOf(kind, stream);
    const before = await spentOf(pool, stream);
    const tasks: ReactionTask[] = [];
    const running: Running[] = [];
    const spent: Spent[] = [];
    for (const timerState of kind === undefined
      ? []
      : timerStatesOf(domain, kind, history).toSorted(byTime)) {
      const timer = kind?.timers[timerState.name];
      const moment = history.find(({ id }) => id === timerState.cause);
      if (kind === undefined || timer === undefined || moment === undefined) continue;
      const cause = { id: moment.id, metadata: moment.metadata, position: moment.position };
      const task: ReactionTask = { task: 'run', stream, name: timerTask(timer.name), cause };
      if (before.get(timer.name) === cause.id || history.some(({ id }) => id === eventIdOf(task))) continue;
      if ('leftMs' in timerState || timerState.dueMs > nowMs) {
        running.push({ timerState, cause });
        continue;
      }
      spent.push({ name: timer.name, causeId: cause.id });
      const only = conditionOf(domain, kind, timer);
      const state = stateAt(history, timerState.dueMs);
      if (state.status !== 'present') continue;
      const { look } = await readReferences(kind, state.fields, { also: only });
      if (holdsOf(only)(state.fields, null, findBy(look))) tasks.push(task);
    }
    await inTransaction(
      pool,
      async (connection) => {
        // A process that was paused in the middle must not overwrite its successor’s work.
        await demandFence(connection, fence, 'for share');
        await addTasks(connection, tasks);
        await keep(connection, stream, running);
        await keepSpent(connection, stream, spent);
        if (history.at(-1)?.state.status === 'ended')
          await connection.query('delete from process_manager.spent_timer where stream = $1', [stream]);
        await connection.query(
          'delete from process_manager.timer_mark where stream = $1 and position <= $2',
          [stream, position],
        );
      },
      LASTING,
    );
  };
};

type Running = { readonly timerState: TimerState; readonly cause: Cause };

const byTime = (one: TimerState, other: TimerState): number => timeOf(one) - timeOf(other);
const timeOf = (timerState: TimerState): number =>
  'dueMs' in timerState ? timerState.dueMs : Number.MAX_SAFE_INTEGER;

const keep = async (
  connection: Connection,
  stream: StreamName,
  running: readonly Running[],
): Promise<void> => {
  await connection.query('delete from process_manager.timer where stream = $1', [stream]);
  if (running.length === 0) return;
  await connection.query(
    `insert into process_manager.timer (stream, name, cause_id, cause_metadata, due_at, left_ms)
     select $1, name, cause_id, cause_metadata, to_timestamp(due / 1000), left_ms
     from unnest($2::text[], $3::uuid[], $4::jsonb[], $5::float8[], $6::bigint[]) as t (name, cause_id, cause_metadata, due, left_ms)`,
    [
      stream,
      running.map(({ timerState }) => timerState.name),
      running.map(({ cause }) => cause.id),
      running.map(({ cause }) => JSON.stringify(cause.metadata)),
      running.map(({ timerState }) => ('dueMs' in timerState ? timerState.dueMs : null)),
      running.map(({ timerState }) => ('leftMs' in timerState ? timerState.leftMs : null)),
    ],
  );
};

type Spent = { readonly name: string; readonly causeId: EventId };

const spentOf = async (pool: Pool, stream: StreamName): Promise<ReadonlyMap<string, EventId>> => {
  const { rows } = await pool.query<Spent>(
    'select name, cause_id as "causeId" from process_manager.spent_timer where stream = $1',
    [stream],
  );
  return new Map(rows.map(({ name, causeId }) => [name, causeId]));
};

/** A run of a timer yields to one that a later event started; other runs stay, whatever the declaration. */
const keepSpent = async (
  connection: Connection,
  stream: StreamName,
  spent: readonly Spent[],
): Promise<void> => {
  if (spent.length === 0) return;
  await connection.query(
    `insert into process_manager.spent_timer (stream, name, cause_id) select $1, name, cause_id from unnest($2::text[], $3::uuid[]) as t (name, cause_id)
     on conflict (stream, name) do update set cause_id = excluded.cause_id`,
    [stream, spent.map(({ name }) => name), spent.map(({ causeId }) => causeId)],
  );
};
