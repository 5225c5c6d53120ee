import type { EventId, StreamName } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** What should have followed from an event: the end of a child, the erasure of the user whose stream it is, a command, or what code says. */
export type ParkedTask = {
  readonly task: 'end' | 'erase' | 'run' | 'react';
  readonly stream: StreamName;
  /** Of the reaction, if it is one: `team team.closed`, or the name of the event. */
  readonly name: string | null;
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

const CONSEQUENCES = `(
  select task, stream, null as name, cause_id, reason, attempts, parked_at, next_at, skipped_at from process_manager.parked
  union all
  select task, stream, name, cause_id, reason, attempts, parked_at, next_at, skipped_at from process_manager.task where attempts > 0)`;

/** In the order of time, and none like another. */
const KEY = `to_char(parked_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || task || ' ' || stream || ' ' || coalesce(name, '') || ' ' || cause_id::text collate "C"`;

export type ListedTask = ParkedTask & { readonly key: string };

/** The latest first. */
export const readConsequences = async (
  pool: Pool,
  { after, before, isBackward, rowsMax }: Stretch<string>,
): Promise<readonly ListedTask[]> => {
  if (!(await isThere(pool))) return [];
  const { rows } = await pool.query<ListedTask>(
    `select task, stream, name, cause_id as "causeId", reason, attempts, parked_at as "parkedAt", next_at as "nextAt", skipped_at as "skippedAt",
       ${KEY} as key
     from ${CONSEQUENCES} as c
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
     from ${CONSEQUENCES} as c`,
  );
  const [counts] = rows;
  if (counts === undefined) throw new Error('a count without a row');
  return counts;
};

/** The command role makes the tables, and need not have been here yet. */
const isThere = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(`select to_regclass('process_manager.task') is not null as "isThere"`);
  return rows[0]?.isThere ?? false;
};
