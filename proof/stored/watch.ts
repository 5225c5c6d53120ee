import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';

/** The progress of the present verification round, and the result of the last complete one. */
export type Watched = {
  readonly log: LogIdentity;
  readonly round: number;
  /** The end of the last verified block, by its count and its position. */
  readonly count: number;
  readonly position: Position;
  readonly beganAt: Date;
  readonly differences: number;
  readonly finishedAt: Date | null;
  readonly finishedCount: number | null;
  readonly finishedDifferences: number | null;
};

/** A deviation from the log. It names places and fields, but none of their content. */
export type Difference = {
  readonly kind: string;
  readonly position: Position | null;
  readonly stream: string | null;
  readonly version: number | null;
  readonly fields: readonly string[];
};

const COLUMNS = `log, round, count, position, began_at as "beganAt", differences, finished_at as "finishedAt",
  finished_count as "finishedCount", finished_differences as "finishedDifferences"`;

/** Undefined before the first round. */
export const readWatched = async (pool: Pool): Promise<Watched | undefined> => {
  const { rows } = await pool.query<Watched>(`select ${COLUMNS} from audit.watch`);
  return rows[0];
};

/** Keeps the differences of the round before until this one is complete. */
export const beginRound = async (pool: Pool, log: LogIdentity): Promise<Watched> => {
  const { rows } = await pool.query<Watched>(
    `insert into audit.watch as held (log, round, count, position, began_at, differences) values ($1, 1, 0, ${START}, now(), 0)
     on conflict (only_one) do update set log = $1, round = held.round + 1, count = 0, position = ${START}, began_at = now(), differences = 0
     returning ${COLUMNS}`,
    [log],
  );
  const [begun] = rows;
  if (!begun) throw new Error('a round was begun and is not there');
  await pool.query('delete from audit.watch_difference where round < $1 - 1', [begun.round]);
  return begun;
};

const STORED_MAX = 1_000;

/**
 * Moves on, with the differences found on the way: all or nothing, and only from the expected count. Returns
 * whether the count was still there.
 */
export const moveOn = async (
  pool: Pool,
  { round, count }: Pick<Watched, 'round' | 'count'>,
  {
    to,
    differences,
  }: { readonly to: Pick<Watched, 'count' | 'position'>; readonly differences: readonly Difference[] },
): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `with moved as (
       update audit.watch set count = $3, position = $4, differences = differences + $5 where round = $1 and count = $2 returning differences
     ), reported as (
       insert into audit.watch_difference (round, kind, position, stream, version, fields)
       select $1, p.kind, p.position, p.stream, p.version, p.fields
       from json_to_recordset($6) as p (kind text, position bigint, stream text, version integer, fields text[]), moved
       where moved.differences <= ${STORED_MAX}
     )
     select from moved`,
    [round, count, to.count, to.position, differences.length, JSON.stringify(differences)],
  );
  return rowCount === 1;
};

export const endRound = async (pool: Pool, { round }: Pick<Watched, 'round'>): Promise<void> => {
  await pool.query(
    `update audit.watch set finished_at = now(), finished_count = count, finished_differences = differences where round = $1`,
    [round],
  );
};

const LISTED_MAX = 20;

/** The differences of the present round, or of the one before it as long as this one has none; the first of many. */
export const listDifferences = async (
  pool: Pool,
): Promise<readonly (Difference & { readonly foundAt: Date })[]> => {
  const { rows } = await pool.query<Difference & { foundAt: Date }>(
    `select kind, position, stream, version, fields, found_at as "foundAt" from audit.watch_difference
     where round = (select max(round) from audit.watch_difference) order by found_at limit ${LISTED_MAX}`,
  );
  return rows;
};
