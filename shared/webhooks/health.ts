import type { WebhookId } from '#kernel/base/brands.ts';
import { isUndefined } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { BACKLOG_COUNTED_MAX, type WebhookHealth } from '#shared/rest/webhook.ts';

type Row = {
  readonly webhookId: WebhookId;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly lastFailureStatus: number | null;
  readonly lastFailureError: string | null;
  readonly failingSince: Date | null;
  readonly failuresInRow: number;
  readonly pausedUntil: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly arrivedLastDay: number;
  readonly failuresLastDay: number;
  readonly due: number;
  readonly oldestAt: Date | null;
  readonly dead: number;
};

const DELIVERIES = 'select from webhook_ledger.delivery d where d.webhook_id = e.webhook_id';
const counted = (state: string): string =>
  `(select count(*) from (${DELIVERIES} and ${state} limit ${BACKLOG_COUNTED_MAX}) counted)`;

const HEALTH = `
  select e.webhook_id as "webhookId", e.last_success_at as "lastSuccessAt", e.last_failure_at as "lastFailureAt",
    e.last_failure_status as "lastFailureStatus", e.failing_since as "failingSince", e.failures_in_row as "failuresInRow",
    (select error from webhook_ledger.attempt a
      where a.webhook_id = e.webhook_id and a.event_id = e.last_failure_event and a.at = e.last_failure_at limit 1) as "lastFailureError",
    case when e.status = 'enabled' and e.not_before > now() then e.not_before end as "pausedUntil",
    case when e.status = 'enabled' then (select greatest(d.next_at, e.not_before) from webhook_ledger.delivery d
      where d.webhook_id = e.webhook_id and d.state = 'due' order by d.next_at limit 1) end as "nextAttemptAt",
    coalesce(last_day.arrived, 0)::integer as "arrivedLastDay", coalesce(last_day.failed, 0)::integer as "failuresLastDay",
    ${counted(`d.state = 'due'`)} as due,
    (select d.created_at from webhook_ledger.delivery d
      where d.webhook_id = e.webhook_id and d.state = 'due' order by d.position limit 1) as "oldestAt",
    -- Said so that the index of those that were given up is taken.
    ${counted(`d.state in ('dead', 'withheld') and d.state = 'dead'`)} as dead
  from webhook_ledger.endpoint e
    left join lateral (select sum(arrived) as arrived, sum(failed) as failed from webhook_ledger.tally t
      where t.webhook_id = e.webhook_id and t.at > now() - interval '24 hours') last_day on true
  where e.webhook_id = any($1)`;

/** The health of webhooks; leaves out those that no dispatcher of this release knows yet. */
export const readHealthOfMany = async (
  pool: Pool,
  webhookIds: readonly WebhookId[],
): Promise<ReadonlyMap<WebhookId, WebhookHealth>> => {
  try {
    const { rows } = await pool.query<Row>(HEALTH, [webhookIds]);
    return new Map(rows.map((row) => [row.webhookId, healthOf(row)]));
  } catch (error) {
    if (isUndefined(error)) return new Map();
    throw error;
  }
};

const healthOf = (row: Row): WebhookHealth => ({
  lastSuccessAt: row.lastSuccessAt?.toISOString() ?? null,
  lastFailure: row.lastFailureAt && {
    at: row.lastFailureAt.toISOString(),
    status: row.lastFailureStatus,
    reason: reasonOf(row),
  },
  failingSince: row.failingSince?.toISOString() ?? null,
  failuresInRow: row.failuresInRow,
  pausedUntil: row.pausedUntil?.toISOString() ?? null,
  nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  ...lastDayOf(row),
  backlog: { due: row.due, oldestAt: row.oldestAt?.toISOString() ?? null, dead: row.dead },
});

/** The stored reason, once the attempt itself is deleted. */
const reasonOf = ({ lastFailureStatus: status, lastFailureError: error }: Row): string =>
  error ??
  (status === null ? 'The receiver did not answer.' : `The receiver answered with status ${status}.`);

/** To the thousandth. */
const lastDayOf = ({ arrivedLastDay: arrived, failuresLastDay }: Row) => {
  const attemptsLastDay = arrived + failuresLastDay;
  return {
    attemptsLastDay,
    failuresLastDay,
    successRate: attemptsLastDay === 0 ? null : Math.round((1_000 * arrived) / attemptsLastDay) / 1_000,
  };
};
