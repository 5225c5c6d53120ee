import type { Position } from '#kernel/base/brands.ts';
import type { Following } from '#kernel/decide/reactions.ts';
import { migrateLeases } from '#shared/database/lease/lease.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { holdCheckpoint, migrateFollowers } from '#shared/follower/checkpoint.ts';
import { REACTIONS } from '#shared/process-manager/followers.ts';
import { type Fence, isOwned, LEASE, Overtaken } from './fence.ts';
import { timerTask } from './tasks.ts';

/** The fingerprint of a domain without timers and with no reactions but ends. */
const NOTHING = '';

type Declared = Pick<Following, 'fingerprint'>;

/**
 * Makes this declaration the current one for stored references and tasks; undefined stands for a domain
 * without timers and with no reactions but ends.
 */
export const declareReactions = async (
  pool: Pool,
  eventLog: EventLog,
  following: Declared | undefined,
): Promise<void> => {
  await migrateFollowers(pool);
  await migrateLeases(pool);
  await (following === undefined
    ? discard(pool, 'true')
    : beginWith(pool, eventLog, { ...following, isOverdue: 'true' }));
};

/** The leader records its activity at least this often, by the clock of the database, even when idle. */
const UNSEEN_MAX_S = 15;
const SEEN_EVERY_S = 1;
const isUnseenFor = (seconds: number): string =>
  `(seen_at is null or abs(extract(epoch from clock_timestamp() - seen_at)) > ${seconds})`;

const RECORD_ACTIVITY = `update process_manager.reacting set seen_at = clock_timestamp()
  where fingerprint = $1 and ${isUnseenFor(SEEN_EVERY_S)}`;

/** Records that a process works with this declaration. */
export const recordActivity = async (pool: Pool, { fingerprint }: Declared): Promise<void> => {
  await pool.query(RECORD_ACTIVITY, [fingerprint]);
};

/**
 * Replaces another declaration that no process uses any more, such as that of a release that was rolled back.
 * Only the leader can know that, because another process may be busy for long.
 */
export const takeBack = (
  pool: Pool,
  eventLog: Pick<EventLog, 'head'>,
  { fingerprint, epoch }: Fence,
): Promise<void> =>
  beginWith(pool, eventLog, { fingerprint, isOverdue: `${isUnseenFor(UNSEEN_MAX_S)} and ${isOwned(epoch)}` });

type Beginning = Declared & {
  /** SQL that is true if the other declaration is no longer in use. */
  readonly isOverdue: string;
};

/**
 * Discards references of another declaration, and rebuilds them from the start of the log. Tasks that it
 * created remain. Earlier events trigger no new tasks.
 */
const beginWith = async (
  pool: Pool,
  eventLog: Pick<EventLog, 'head'>,
  { fingerprint, isOverdue }: Beginning,
): Promise<void> => {
  const head = await eventLog.head();
  await inTransaction(pool, async (connection) => {
    // Taken first, in the order of the follower.
    const checkpoint = await holdCheckpoint(connection, REACTIONS);
    await connection.query('lock table process_manager.reacting');
    const { rows } = await connection.query<{ isKept: boolean }>(
      `update process_manager.reacting set seen_at = case when fingerprint = $1 then clock_timestamp() else seen_at end
       returning fingerprint = $1 or not (${isOverdue}) as "isKept"`,
      [fingerprint],
    );
    if (rows[0]?.isKept) return;
    await connection.query(
      `insert into process_manager.reacting (fingerprint, after_position, seen_at) values ($1, $2, clock_timestamp())
       on conflict (only_one) do update set fingerprint = $1, after_position = greatest(reacting.after_position, $2), seen_at = excluded.seen_at`,
      [fingerprint, checkpoint?.position ?? head],
    );
    await connection.query(
      'truncate process_manager.reference, process_manager.ended, process_manager.timer, process_manager.timer_mark, process_manager.fan_out',
    );
    // A process with the other declaration finds that its checkpoint has moved.
    await connection.query(
      `update public.follower_checkpoint set position = 0, event = null, event_position = null, moved_at = clock_timestamp(), moved_position = 0
       where follower = $1`,
      [REACTIONS],
    );
    await endLeases(connection);
  });
};

/**
 * Like `takeBack`, if nothing is declared, and records that a process works so. Throws while another process may use its declaration, so that this
 * one releases the lease: otherwise nobody would see the other.
 */
export const forgetUnseen = async (pool: Pool, epoch: number): Promise<void> => {
  const isOverdue = `${isUnseenFor(UNSEEN_MAX_S)} and ${isOwned(epoch)}`;
  const { rows } = await pool.query<{ isOverdue: boolean }>(
    `with seen as (${RECORD_ACTIVITY})
     select ${isOverdue} as "isOverdue" from process_manager.reacting where fingerprint <> $1`,
    [NOTHING],
  );
  const [other] = rows;
  if (other === undefined) return;
  if (!other.isOverdue) throw new Overtaken();
  await discard(pool, isOverdue);
};

/** A later declaration starts from scratch: events in between trigger nothing. */
const discard = async (pool: Pool, isOverdue: string): Promise<void> => {
  await inTransaction(pool, async (connection) => {
    await holdCheckpoint(connection, REACTIONS);
    const { rowCount } = await connection.query(
      `update process_manager.reacting set fingerprint = $1, seen_at = clock_timestamp() where fingerprint <> $1 and ${isOverdue}`,
      [NOTHING],
    );
    if (rowCount === 0) return;
    // A timer whose command was not sent yet may send it after it is declared again.
    await connection.query(
      `with gone as (delete from process_manager.task where skipped_at is null returning stream, name, cause_id)
       delete from process_manager.spent_timer s using gone g where s.stream = g.stream and s.cause_id = g.cause_id and g.name = $1 || s.name`,
      [timerTask('')],
    );
    await connection.query(
      'truncate process_manager.timer, process_manager.timer_mark, process_manager.fan_out, process_manager.schedule, process_manager.schedule_run',
    );
    await connection.query('delete from public.follower_checkpoint where follower = $1', [REACTIONS]);
    await endLeases(connection);
  });
};

/**
 * Revokes the leases of processes with the other declaration, which notice at once, even while they wait for
 * events.
 */
const endLeases = async (connection: Connection): Promise<void> => {
  await connection.query(
    `update public.lease set epoch = epoch + 1, expires_at = '-infinity' where name = any($1)`,
    [[REACTIONS, LEASE]],
  );
};

/** True if no process works with another declaration. */
export const isDeclared = async (pool: Pick<Pool, 'query'>, { fingerprint }: Declared): Promise<boolean> => {
  const { rowCount } = await pool.query('select from process_manager.reacting where fingerprint = $1', [
    fingerprint,
  ]);
  return rowCount === 1;
};

/** The position after which events trigger tasks; throws if another declaration has taken over. */
export const actsAfter = async (
  connection: Pick<Pool, 'query'>,
  { fingerprint }: Declared,
  lock = '',
): Promise<Position> => {
  const { rows } = await connection.query<{ after: Position }>(
    `select after_position as after from process_manager.reacting where fingerprint = $1 ${lock}`,
    [fingerprint],
  );
  if (rows[0] === undefined) throw new Overtaken();
  return rows[0].after;
};
