import type { WebhookId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { WebhookStatistics } from '#shared/rest/deliveries.ts';

/** Attempts are counted per quarter of an hour. */
export const TALLY_SECONDS = 900;
/** A chart cannot show more points. */
const POINTS_MAX = 100;
const HOUR_SECONDS = 3_600;

type Row = {
  readonly at: Date;
  readonly arrived: number;
  readonly failed: number;
  readonly durationMs: number | null;
};

/**
 * Each point covers several tallies, the last of which has not ended yet; a span without attempts has a point
 * too.
 */
export const readStatistics = async (
  pool: Pool,
  webhookId: WebhookId,
  hours: number,
): Promise<Pick<WebhookStatistics, 'seconds' | 'points'>> => {
  const tallies = (hours * HOUR_SECONDS) / TALLY_SECONDS;
  const seconds = TALLY_SECONDS * Math.ceil(tallies / POINTS_MAX);
  const { rows } = await pool.query<Row>(
    `select point.at, coalesce(sum(arrived), 0)::integer as arrived, coalesce(sum(failed), 0)::integer as failed,
       (sum(duration_ms) / nullif(sum(arrived + failed), 0))::float8 as "durationMs"
     from (select date_bin($2 * interval '1 second', now(), 'epoch') - n * $2 * interval '1 second' as at
       from generate_series(0, $3) n) point
     left join webhook_ledger.tally on tally.webhook_id = $1 and tally.at >= point.at and tally.at < point.at + $2 * interval '1 second'
     group by point.at order by point.at`,
    [webhookId, seconds, Math.ceil((hours * HOUR_SECONDS) / seconds)],
  );
  return { seconds, points: rows.map(pointOf) };
};

const pointOf = ({ at, arrived, failed, durationMs }: Row): WebhookStatistics['points'][number] => ({
  at: at.toISOString(),
  arrived,
  failed,
  durationMs: durationMs === null ? null : Math.round(durationMs),
});
