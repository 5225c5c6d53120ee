import type { Statement } from '#shared/database/pipeline.ts';
import type { Pool } from '#shared/database/pool.ts';
import { demandAll, type Move, valuesOf } from './checkpoint.ts';

/** Of several followers, in one statement. It waits for no checkpoint that another transaction holds. */
const TOGETHER = `step as (
    select * from unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[])
      as s (follower, log, was, position, epoch, event)
  ), free as materialized (
    select c.follower from public.follower_checkpoint c join step s on c.follower = s.follower collate "C"
    where c.log = s.log and c.position = s.was and c.epoch <= s.epoch for update of c skip locked
  ), moved as (
    update public.follower_checkpoint held set position = s.position, epoch = s.epoch, event = s.event,
      event_position = s.position, moved_at = clock_timestamp(), moved_position = s.position
    from step s join free f on f.follower = s.follower collate "C" where held.follower = f.follower
    returning held.follower, held.epoch
  )`;
const DEMAND_MOVES = {
  name: 'follower-move-checkpoints',
  text: demandAll(TOGETHER, 'cardinality($1)'),
};
const MOVE_ALONE = {
  name: 'follower-move-checkpoints-alone',
  text: `with ${TOGETHER} select follower, epoch from moved where set_config('synchronous_commit', 'off', true) is not null`,
};

type MoveOf = Move & { readonly follower: string };

/** The statement that moves several checkpoints. Fails if one of them cannot be moved. */
export const movingCheckpoints = (moves: readonly MoveOf[]): Statement => ({
  ...DEMAND_MOVES,
  values: columnsOf(moves),
});

/** The same outside of a transaction, without waiting for the disk. Returns the moves that were made. */
export const moveCheckpointsAlone = async (
  pool: Pool,
  moves: readonly MoveOf[],
): Promise<readonly MoveOf[]> => {
  const { rows } = await pool.query({ ...MOVE_ALONE, values: columnsOf(moves) });
  return moves.filter((move) =>
    rows.some(({ follower, epoch }) => follower === move.follower && epoch === move.epoch),
  );
};

const columnsOf = (moves: readonly MoveOf[]): unknown[][] => {
  const rows = moves.map(({ follower, ...move }) => valuesOf(follower, move));
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
};
