import type { EventId, StreamName } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** Something that a deletion should have brought with it: the end of a child, or the erasure of the user whose stream it is. */
export type ParkedTask = {
  readonly task: 'end' | 'erase';
  readonly stream: StreamName;
  readonly causeId: EventId;
  readonly reason: string;
  readonly attempts: number;
  readonly parkedAt: Date;
  readonly nextAt: Date;
  readonly skippedAt: Date | null;
};

export type ConsequenceCounts = {
  /** Those that are retried. */
  readonly parked: number;
  readonly skipped: number;
  /** How long the oldest of those that are retried has been parked; nothing if there is none. */
  readonly oldestSeconds: number | null;
};

/** In the order of time, and none like another. */
const KEY = `to_char(parked_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || task || ' ' || stream collate "C"`;

export type ListedTask = ParkedTask & { readonly key: string };

/** The latest first. */
export const readConsequences = async (
  pool: Pool,
  { after, before, isBackward, rowsMax }: Stretch<string>,
): Promise<readonly ListedTask[]> => {
  if (!(await isThere(pool))) return [];
  const { rows } = await pool.query<ListedTask>(
    `select task, stream, cause_id as "causeId", reason, attempts, parked_at as "parkedAt", next_at as "nextAt", skipped_at as "skippedAt",
       ${KEY} as key
     from process_manager.parked
     where ($1::text is null or ${KEY} < $1) and ($2::text is null or ${KEY} > $2)
     order by key ${isBackward ? 'asc' : 'desc'} limit $3`,
    [after, before, rowsMax],
  );
  return rows;
};

export const countConsequences = async (pool: Pool): Promise<ConsequenceCounts> => {
  if (!(await isThere(pool))) return { parked: 0, skipped: 0, oldestSeconds: null };
  const { rows } = await pool.query<ConsequenceCounts>(
    `select count(*) filter (where skipped_at is null) as parked, count(skipped_at) as skipped,
       greatest(extract(epoch from clock_timestamp() - min(parked_at) filter (where skipped_at is null)), 0)::float8 as "oldestSeconds"
     from process_manager.parked`,
  );
  const [counts] = rows;
  if (counts === undefined) throw new Error('a count without a row');
  return counts;
};

/** The command role makes the table, and need not have been here yet. */
const isThere = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(`select to_regclass('process_manager.parked') is not null as "isThere"`);
  return rows[0]?.isThere ?? false;
};
