import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { TALLY_SECONDS } from '#shared/webhooks/statistics.ts';
import type { AttemptResult } from '../deliver/delivery.ts';

/** The result of a delivery, with the epoch of its run. */
export type Recorded = {
  readonly webhookId: WebhookId;
  readonly epoch: number;
  readonly eventId: EventId;
  readonly at: Date;
  readonly result: AttemptResult;
};

/** `lost` if another run has started since: nothing was recorded, and that run retries. */
export type RecordAnswer = 'recorded' | 'lost' | 'failing_for_long';

/** The minimum time and number of consecutive failures after which a webhook is disabled. */
export type DisableThreshold = { readonly hours: number; readonly failures: number };

/**
 * Each column is sent as one joined text, which PostgreSQL splits in a fraction of the time that JSON takes.
 */
const COLUMNS = [
  'webhook_id',
  'epoch',
  'event_id',
  'at',
  'state',
  'retry_ms',
  'shape',
  'is_failure',
  'is_sent',
  'duration_ms',
  'status',
  'error',
  'request_headers',
  'response_headers',
  'body',
] as const;
/** Neither occurs in the data, where control characters are removed or escaped. */
const [SEPARATOR, NULL] = ['\u001e', '\u001f'];
const [SEPARATOR_SQL, NULL_SQL] = ["e'\\x1e'", "e'\\x1f'"];
const THRESHOLD = COLUMNS.length;

/**
 * A response may repeat what it answers. If the person of the event is erased while the attempt is under way,
 * nothing of the response is stored: their key stays locked until the commit, so that an erasure comes before
 * this statement, or finds its response.
 */
const RECORD = `
  with sent as materialized (
    select webhook_id::bigint, epoch::bigint, event_id::uuid, at::timestamptz, state, retry_ms::float8, shape, is_failure::boolean,
      is_sent::boolean, duration_ms::integer, status::integer, error, request_headers::jsonb, response_headers::jsonb, body
    from rows from (${COLUMNS.map((_, index) => `string_to_table($${index + 1}, ${SEPARATOR_SQL}, ${NULL_SQL})`).join(', ')})
      as given (${COLUMNS.join(', ')})
  ), person as materialized (
    select message.event_id, destroyed_at is not null as is_erased
    from webhook_ledger.message join public.person_key on subject = person_id
    where message.event_id in (select event_id from sent where is_sent) order by subject for share of person_key
  ), result as materialized (
    select webhook_id, epoch, event_id, at, state, retry_ms, shape, is_failure, is_sent, duration_ms, status, request_headers,
      case when is_erased then null else error end as error, case when is_erased then null else body end as body,
      case when is_erased then '{}' else response_headers end as response_headers
    from sent left join person using (event_id)
  ), held as materialized (
    select webhook_id, run_epoch as epoch from webhook_ledger.endpoint
    where (webhook_id, run_epoch) in (select webhook_id, epoch from result) order by webhook_id for update
  ), moved as (
    update webhook_ledger.delivery as delivery
    set state = result.state, attempts = attempts + is_sent::integer, tries = tries + is_sent::integer,
      next_at = case when result.state = 'due' then now() + retry_ms * interval '1 millisecond' else next_at end,
      shape = coalesce(delivery.shape, result.shape), last_status = status, last_error = error,
      delivered_at = case when result.state = 'delivered' then now() end,
      settled_at = case when result.state <> 'due' then now() end
    from result join held on held.webhook_id = result.webhook_id and held.epoch = result.epoch
    where delivery.webhook_id = result.webhook_id and delivery.event_id = result.event_id
      -- So said that the primary key is taken: by the indexes of what is due, all that is due to the webhook would be looked through.
      and (delivery.state = 'due') is not false
    returning delivery.webhook_id, delivery.event_id, attempts
  ), logged as (
    insert into webhook_ledger.attempt
      (webhook_id, event_id, number, at, duration_ms, status, error, request_headers, response_headers, response_body)
    select webhook_id, event_id, attempts, at, duration_ms, status, error, request_headers, response_headers, decode(body, 'base64')
    from result join moved using (webhook_id, event_id) where is_sent
    on conflict do nothing
  ), tallied as (
    insert into webhook_ledger.tally as known (webhook_id, at, arrived, failed, duration_ms)
    select webhook_id, date_bin('${TALLY_SECONDS} seconds', at, 'epoch'), count(*) filter (where not is_failure),
      count(*) filter (where is_failure), sum(duration_ms)
    from result join held using (webhook_id, epoch) where is_sent group by 1, 2
    on conflict (webhook_id, at) do update set arrived = known.arrived + excluded.arrived, failed = known.failed + excluded.failed,
      duration_ms = known.duration_ms + excluded.duration_ms
  ), summary as (
    select webhook_id, bool_or(is_sent and not is_failure) as is_well, count(*) filter (where is_failure) as failures, min(at) as first_at,
      max(at) filter (where is_sent and not is_failure) as success_at
    from result join held using (webhook_id, epoch) group by webhook_id
  ), failure as (
    select distinct on (webhook_id) webhook_id, at, event_id, status from result join held using (webhook_id, epoch)
    where is_failure order by webhook_id, at desc
  ), updated as (
    update webhook_ledger.endpoint as endpoint
    set failing_since = case when not is_well then coalesce(failing_since, first_at) end,
      failures_in_row = case when not is_well then failures_in_row + failures else 0 end,
      last_success_at = greatest(last_success_at, success_at), last_failure_at = coalesce(failure.at, last_failure_at),
      last_failure_event = coalesce(failure.event_id, last_failure_event),
      last_failure_status = case when failure.at is null then last_failure_status else failure.status end
    from summary left join failure using (webhook_id)
    -- Where all goes well, once a second is enough.
    where endpoint.webhook_id = summary.webhook_id and (failures > 0 or failing_since is not null
      or success_at >= coalesce(last_success_at, '-infinity') + interval '1 second')
    returning endpoint.webhook_id, failing_since, failures_in_row
  )
  select held.webhook_id as "webhookId", held.epoch,
    coalesce(failures_in_row >= $${THRESHOLD + 1} and failing_since < now() - $${THRESHOLD + 2} * interval '1 hour', false) as "isFailingForLong",
    set_config('synchronous_commit', 'off', true)
  from held left join updated using (webhook_id)`;

/**
 * Records all results in one transaction, each only if its run still has its webhook. Does not wait for the
 * disk: results that a database crash loses are sent again.
 */
export const recordResults = async (
  pool: Pool,
  recorded: readonly Recorded[],
  threshold: DisableThreshold,
): Promise<readonly RecordAnswer[]> => {
  const { rows } = await pool.query<{ webhookId: WebhookId; epoch: number; isFailingForLong: boolean }>({
    name: 'webhook-record',
    text: RECORD,
    values: [...columnsOf(recorded), threshold.failures, threshold.hours],
  });
  const held = new Map(rows.map((row) => [row.webhookId, row]));
  return recorded.map(({ webhookId, epoch }) => {
    const run = held.get(webhookId);
    if (run?.epoch !== epoch) return 'lost';
    return run.isFailingForLong ? 'failing_for_long' : 'recorded';
  });
};

const columnsOf = (recorded: readonly Recorded[]): readonly string[] => {
  const columns: string[][] = COLUMNS.map(() => []);
  for (const each of recorded) {
    for (const [index, value] of toRow(each).entries())
      columns[index]?.push(value === null ? NULL : String(value));
  }
  return columns.map((column) => column.join(SEPARATOR));
};

/** In the order of the columns. */
const toRow = ({ webhookId, epoch, eventId, at, result: { attempt, shape, outcome, health } }: Recorded) => [
  webhookId,
  epoch,
  eventId,
  at.toISOString(),
  outcome.state,
  outcome.state === 'due' ? outcome.retryInMs : null,
  shape,
  health.kind !== 'well' && health.kind !== 'unknown',
  attempt !== null,
  attempt && Math.round(attempt.durationMs),
  attempt?.status ?? null,
  attempt?.error == null ? null : storable(attempt.error),
  attempt && storableHeaders(attempt.requestHeaders),
  attempt && storableHeaders(attempt.responseHeaders),
  // Null if empty: a single empty text would be split to no row.
  attempt?.responseBody?.length ? Buffer.from(attempt.responseBody).toString('base64') : null,
];

/** PostgreSQL accepts neither NUL nor unpaired surrogates; other control characters carry no information. */
const storable = (text: string): string => text.replaceAll(CONTROL, '').toWellFormed();

const CONTROL = /\p{Cc}/gu;

const storableHeaders = (headers: Readonly<Record<string, string>>): string => {
  const text = JSON.stringify(headers);
  // In JSON, unstorable characters are escaped.
  if (!text.includes('\\u')) return text;
  return JSON.stringify(
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [storable(name), storable(value)])),
  );
};
