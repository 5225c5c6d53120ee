import type { Position } from '#kernel/base/brands.ts';
import type { Statement } from '#shared/database/pipeline.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';

/** A span of the log: after one position, up to another. */
export type IndexSpan = { readonly after: Position; readonly upTo: Position };

/**
 * Statements that record the greatest time of a change up to the last of these events. If another release has indexed events
 * since the moment before, their times are unknown, but not in the future.
 */
export const notingMoment = (events: readonly RecordedEvent[]): readonly Statement[] => {
  const times = events.map((event) => timeOf(event)?.getTime() ?? Number.NEGATIVE_INFINITY);
  const latest = times.reduce((one, other) => Math.max(one, other));
  return [
    {
      name: 'event-index-forget-moments',
      text: 'delete from event_index.moment where position >= $1',
      values: [events[0]?.position],
    },
    {
      name: 'event-index-moment',
      text: MOMENT,
      values: [
        events[0]?.position,
        events.at(-1)?.position,
        latest > Number.NEGATIVE_INFINITY ? new Date(latest) : null,
      ],
    },
  ];
};

const MOMENT = `with before as (select position, latest_at from event_index.moment order by position desc limit 1)
  insert into event_index.moment (position, latest_at)
  select $2, greatest($3::timestamptz, (select latest_at from before),
    case when exists (select from event_index.event where position < $1 and position > coalesce((select position from before), 0))
      then clock_timestamp() + interval '1 minute' end)`;

/** Takes the times of earlier events from the chain of the proof, in which former releases searched for them. */
export const takeFormerMoments = async (pool: Pick<Pool, 'query'>): Promise<void> => {
  const { rows } = await pool.query<{ wanted: boolean }>(
    `select to_regclass('audit.block') is not null and not exists (select from event_index.moment) as wanted`,
  );
  if (rows[0]?.wanted === true)
    await pool.query(
      `insert into event_index.moment (position, latest_at) select last_position, latest_at from audit.block
       where last_position <= (select max(position) from event_index.event)`,
    );
};

/** The moments of a span, in order. */
export const readMoments = async (
  pool: Pick<Pool, 'query'>,
  { after, upTo }: IndexSpan,
): Promise<readonly Moment[]> => {
  const { rows } = await pool.query<Moment>(
    `select position, latest_at as "latestAt" from event_index.moment
     where position > $1 and position <= $2 order by position`,
    [after, upTo],
  );
  return rows;
};

/** The greatest time of a change up to a position, or a later one; null if no event up to there has a time. */
type Moment = { readonly position: Position; readonly latestAt: Date | null };
