import type { EventId, LogIdentity, Position } from '#kernel/base/brands.ts';
import { recordCursorForm } from '#shared/cursor-form/cursor-form.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Statement } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';

/**
 * The position of a follower, its log, and the event at that position, unless an earlier release has moved
 * it.
 */
export type Checkpoint = {
  readonly log: LogIdentity;
  readonly position: Position;
  readonly event: EventId | null;
};

/** Every process that moves a checkpoint calls it first. */
export const migrateFollowers = async (pool: Pool): Promise<void> => {
  await migrate(pool, 'follower', new URL('./', import.meta.url));
  await recordCursorForm(pool);
};

/**
 * A reader may be of a later release than the follower that migrates the table: a missing column counts as
 * null.
 */
const EVENT = `to_jsonb(follower_checkpoint)->>'event'`;
const EVENT_POSITION = `(to_jsonb(follower_checkpoint)->>'event_position')::bigint`;
const COLUMNS = `log, position, case when ${EVENT_POSITION} = position then ${EVENT} end as event`;

/** Another owner has moved the checkpoint: the pending write of this one is void. */
export class LostCheckpoint extends Error {
  constructor(follower: string) {
    super(`another process has taken over as the ${follower}`);
    this.name = 'LostCheckpoint';
  }
}

export const readCheckpoint = async (
  pool: Pick<Pool, 'query'>,
  follower: string,
): Promise<Checkpoint | undefined> => {
  const { rows } = await pool.query<Checkpoint>(
    `select ${COLUMNS} from public.follower_checkpoint where follower = $1`,
    [follower],
  );
  return rows[0];
};

/**
 * The positions of followers, and for how many seconds each has not moved; null for the seconds if an earlier
 * release moved it, or the server’s clock was set back since.
 */
export const readStillness = async (
  pool: Pool,
  followers: readonly string[],
): Promise<readonly Stillness[]> => {
  const { rows } = await pool.query<Stillness>(
    `select follower, position, case when ${MOVED_POSITION} = position and ${MOVED_AT} <= clock_timestamp()
       then extract(epoch from clock_timestamp() - ${MOVED_AT})::float8 end as "stillSeconds"
     from public.follower_checkpoint where follower = any($1)`,
    [followers],
  );
  return rows;
};

type Stillness = Pick<Checkpoint, 'position'> & {
  readonly follower: string;
  readonly stillSeconds: number | null;
};

const MOVED_AT = `(to_jsonb(follower_checkpoint)->>'moved_at')::timestamptz`;
const MOVED_POSITION = `(to_jsonb(follower_checkpoint)->>'moved_position')::bigint`;

/**
 * From now on only this owner moves the checkpoint, even while there is no event to move it for. Waits for a
 * pending write of the former owner, and returns the checkpoint then; undefined if it was never moved.
 */
export const takeCheckpoint = async (
  pool: Pool,
  follower: string,
  epoch: number,
): Promise<Checkpoint | undefined> => {
  const { rows } = await pool.query<Checkpoint>(
    `update public.follower_checkpoint set epoch = $2 where follower = $1 and epoch <= $2 returning ${COLUMNS}`,
    [follower, epoch],
  );
  if (!rows[0] && (await readCheckpoint(pool, follower))) throw new LostCheckpoint(follower);
  return rows[0];
};

/**
 * A new follower begins at the position of another one instead of the beginning of the log; one that has
 * begun stays where it is.
 */
export const beginWhere = async (pool: Pool, follower: string, other: string): Promise<void> => {
  await migrateFollowers(pool);
  await pool.query(
    `insert into public.follower_checkpoint (follower, log, position, epoch, event, event_position, moved_at, moved_position)
     select $1, log, position, 0, event, event_position, moved_at, moved_position from public.follower_checkpoint where follower = $2
     on conflict do nothing`,
    [follower, other],
  );
};

/** Locks the checkpoint until the transaction ends: its follower writes nothing meanwhile. */
export const holdCheckpoint = async (
  connection: Connection,
  follower: string,
): Promise<Checkpoint | undefined> => {
  const { rows } = await connection.query<Checkpoint>(
    `select ${COLUMNS} from public.follower_checkpoint where follower = $1 for update`,
    [follower],
  );
  return rows[0];
};

export type Move = {
  readonly log: LogIdentity;
  readonly from: Position;
  readonly to: Position;
  readonly epoch: number;
  readonly event?: EventId | undefined;
};

const MOVED = `on conflict (follower) do update set position = $4, epoch = $5, event = excluded.event, event_position = excluded.event_position,
         moved_at = excluded.moved_at, moved_position = excluded.moved_position
       where held.log = $2 and held.position = $3 and held.epoch <= $5`;

/** A setting that does not exist, so that reading it fails. */
const LOST = 'annals.checkpoint_lost';
/** Fails unless as many checkpoints have moved, so that nothing that was sent together with it is done. */
export const demandAll = (moved: string, count: string): string =>
  `with ${moved} select case when count(*) <> ${count} then current_setting('${LOST}') end from moved`;
export const isLost = (error: unknown): boolean => error instanceof Error && error.message.includes(LOST);
const INTO =
  'insert into public.follower_checkpoint as held (follower, log, position, epoch, event, event_position, moved_at, moved_position)';

const MOVE = `${INTO} values ($1, $2::uuid, $4::bigint, $5::bigint, $6::uuid, $4, clock_timestamp(), $4) ${MOVED}`;
/** Prepared, because each follower sends it for each page. */
const DEMAND_MOVE = {
  name: 'follower-move-checkpoint',
  text: demandAll(`moved as (${MOVE} returning follower)`, '1'),
};

/**
 * A single statement that does not wait for the disk: after a crash the follower gets events again for which
 * it had nothing to write.
 */
const MOVE_ALONE = {
  name: 'follower-move-checkpoint-alone',
  text: `${INTO} select $1, $2::uuid, $4::bigint, $5::bigint, $6::uuid, $4::bigint, clock_timestamp(), $4::bigint
       where set_config('synchronous_commit', 'off', true) is not null ${MOVED}`,
};

/** Moves the checkpoint, or throws if it is not where this owner left it. */
export const moveCheckpoint = async (connection: Connection, follower: string, move: Move): Promise<void> =>
  demandMoved(follower, await connection.query(MOVE, valuesOf(follower, move)));

/** The statement that moves the checkpoint, for callers that send it with others. Fails if it `isLost`. */
export const movingCheckpoint = (follower: string, move: Move): Statement => ({
  ...DEMAND_MOVE,
  values: valuesOf(follower, move),
});

const demandMoved = (follower: string, answer: { readonly rowCount: number | null } | undefined): void => {
  if (answer?.rowCount !== 1) throw new LostCheckpoint(follower);
};

/** Like `moveCheckpoint`, outside of a transaction. */
export const moveCheckpointAlone = async (pool: Pool, follower: string, move: Move): Promise<void> =>
  demandMoved(follower, await pool.query({ ...MOVE_ALONE, values: valuesOf(follower, move) }));

export const valuesOf = (follower: string, { log, from, to, epoch, event }: Move): unknown[] => [
  follower,
  log,
  from,
  to,
  epoch,
  event ?? null,
];
