import type { EventId, StreamName } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** A timer of an aggregate that has not run out yet. */
export type RunningTimer = {
  readonly stream: StreamName;
  readonly name: string;
  /** The event that started it. */
  readonly causeId: EventId;
  /** Null while it is paused. */
  readonly dueAt: Date | null;
  /** Of a paused one. */
  readonly leftSeconds: number | null;
};

export type ListedTimer = RunningTimer & { readonly key: string };

/** In the order of time, paused ones last, and none like another. */
const KEY = `coalesce(to_char(due_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS'), 'paused') || ' ' || stream || ' ' || name collate "C"`;

/** The next first; of one aggregate only, if it is named. */
export const readTimers = async (
  pool: Pool,
  { after, before, isBackward, rowsMax }: Stretch<string>,
  stream?: StreamName,
): Promise<readonly ListedTimer[]> => {
  if (!(await isThere(pool))) return [];
  const { rows } = await pool.query<ListedTimer>(
    `select stream, name, cause_id as "causeId", due_at as "dueAt", left_ms / 1000.0::float8 as "leftSeconds", ${KEY} as key
     from process_manager.timer
     where ($1::text is null or ${KEY} > $1) and ($2::text is null or ${KEY} < $2) and ($4::text is null or stream = $4)
     order by key ${isBackward ? 'desc' : 'asc'} limit $3`,
    [after, before, rowsMax, stream],
  );
  return rows;
};

/** The command role makes the table, and need not have been here yet. */
const isThere = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(`select to_regclass('process_manager.timer') is not null as "isThere"`);
  return rows[0]?.isThere ?? false;
};
