import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** A timer of an aggregate that has not expired yet. */
export type RunningTimer = {
  readonly stream: StreamName;
  readonly name: string;
  readonly causeId: EventId;
  /** Null while it is paused. */
  readonly dueAt: Date | null;
  /** Of a paused one. */
  readonly leftSeconds: number | null;
};

export type ListedTimer = RunningTimer & { readonly key: string };

/** In the order of time, paused ones last, and unique. There is an index on the same expressions. */
const PLACE = [`coalesce(due_at, 'infinity'::timestamptz)`, 'stream', 'name'] as const;
const KEY = /^(\d{1,17}|paused) ([!-~]+) ([!-~]+)$/;

type Listing = { readonly stretch: Stretch<string>; readonly stream?: StreamName | undefined };

/** The next to expire comes first; of one aggregate only, if it is named. */
export const readTimers = async (
  pool: Pick<Pool, 'query'>,
  { stretch, stream }: Listing,
): Promise<readonly ListedTimer[]> => {
  if (!(await isThere(pool))) return [];
  const { after, before, isBackward, rowsMax } = stretch;
  const edge = after ?? before;
  const [, micros, ...rest] = edge === undefined ? [] : (KEY.exec(edge) ?? []);
  if (edge !== undefined && micros === undefined) throw new HttpProblem('unknown_cursor');
  const number = (place: number): string => `$${(stream === undefined ? 2 : 3) + place}`;
  // In microseconds, as PostgreSQL counts.
  const moment = `coalesce('epoch'::timestamptz + ${number(0)}::bigint * interval '1 microsecond', 'infinity'::timestamptz)`;
  const isBeyond =
    edge === undefined
      ? 'true'
      : `(${PLACE.join()}) ${after === undefined ? '<' : '>'} (${moment}, ${number(1)}, ${number(2)})`;
  const isOfStream = stream === undefined ? 'true' : 'stream = $2';
  const { rows } = await pool.query<ListedTimer>(
    `select stream, name, cause_id as "causeId", due_at as "dueAt", left_ms / 1000.0::float8 as "leftSeconds",
       coalesce((extract(epoch from due_at) * 1000000)::bigint::text, 'paused') || ' ' || stream || ' ' || name as key
     from process_manager.timer where ${isOfStream} and ${isBeyond}
     order by ${PLACE.map((each) => `${each} ${isBackward ? 'desc' : 'asc'}`).join()} limit $1`,
    [
      rowsMax,
      ...(stream === undefined ? [] : [stream]),
      ...(micros === undefined ? [] : [micros === 'paused' ? null : micros, ...rest]),
    ],
  );
  return rows;
};

/** The command role creates the table, and may never have run. */
const isThere = async (pool: Pick<Pool, 'query'>): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('process_manager.timer') is not null as "isThere"`,
  );
  return rows[0]?.isThere ?? false;
};
