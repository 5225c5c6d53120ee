import type { EventId, WebhookId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { AttemptResult } from '../deliver/delivery.ts';

/** What came of a delivery, in the run of an epoch. */
export type Recorded = {
  readonly webhookId: WebhookId;
  readonly epoch: number;
  readonly eventId: EventId;
  readonly at: Date;
  readonly result: AttemptResult;
};

/** `lost` where another run has begun since: nothing was recorded, and it is tried again there. */
export type RecordAnswer = 'recorded' | 'lost' | 'failing_for_long';

/** How long, and how often at the least, it must have failed without anything else, to be disabled. */
export type Patience = { readonly hours: number; readonly failures: number };

const RECORD = `
  with result as materialized (
    select * from json_to_recordset($1) as given (
      webhook_id bigint, epoch bigint, event_id uuid, at timestamptz, state text, retry_ms float8, shape text, is_failure boolean,
      is_sent boolean, duration_ms integer, status integer, error text, request_headers jsonb, response_headers jsonb, body text)
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
    where delivery.webhook_id = result.webhook_id and delivery.event_id = result.event_id and delivery.state = 'due'
    returning delivery.webhook_id, delivery.event_id, attempts
  ), logged as (
    insert into webhook_ledger.attempt
      (webhook_id, event_id, number, at, duration_ms, status, error, request_headers, response_headers, response_body)
    select webhook_id, event_id, attempts, at, duration_ms, status, error, request_headers, response_headers, decode(body, 'base64')
    from result join moved using (webhook_id, event_id) where is_sent
    on conflict do nothing
  ), summary as (
    select webhook_id, bool_or(is_sent and not is_failure) as is_well, count(*) filter (where is_failure) as failures, min(at) as first_at
    from result join held using (webhook_id, epoch) group by webhook_id
  ), told as (
    update webhook_ledger.endpoint as endpoint
    set failing_since = case when not is_well then coalesce(failing_since, first_at) end,
      failures_in_row = case when not is_well then failures_in_row + failures else 0 end
    from summary where endpoint.webhook_id = summary.webhook_id and (failures > 0 or failing_since is not null)
    returning endpoint.webhook_id, failing_since, failures_in_row
  )
  select held.webhook_id as "webhookId", held.epoch,
    coalesce(failures_in_row >= $2 and failing_since < now() - $3 * interval '1 hour', false) as "isFailingForLong",
    set_config('synchronous_commit', 'off', true)
  from held left join told using (webhook_id)`;

/**
 * Records all in one transaction, each only where its run still has its webhook. The disk is not waited for: what a crash of the
 * database takes away is sent again.
 */
export const recordResults = async (pool: Pool, recorded: readonly Recorded[], patience: Patience): Promise<readonly RecordAnswer[]> => {
  const { rows } = await pool.query<{ webhookId: WebhookId; epoch: number; isFailingForLong: boolean }>({
    name: 'webhook-record',
    text: RECORD,
    values: [JSON.stringify(recorded.map(toRow)), patience.failures, patience.hours],
  });
  const held = new Map(rows.map((row) => [row.webhookId, row]));
  return recorded.map(({ webhookId, epoch }) => {
    const run = held.get(webhookId);
    if (run?.epoch !== epoch) return 'lost';
    return run.isFailingForLong ? 'failing_for_long' : 'recorded';
  });
};

const toRow = ({ webhookId, epoch, eventId, at, result: { attempt, shape, outcome, health } }: Recorded) => ({
  webhook_id: webhookId,
  epoch,
  event_id: eventId,
  at: at.toISOString(),
  state: outcome.state,
  retry_ms: outcome.state === 'due' ? outcome.retryInMs : null,
  shape,
  is_failure: health.kind !== 'well' && health.kind !== 'unknown',
  is_sent: attempt !== null,
  duration_ms: attempt && Math.round(attempt.durationMs),
  status: attempt?.status ?? null,
  error: attempt?.error == null ? null : storable(attempt.error),
  request_headers: attempt && storableHeaders(attempt.requestHeaders),
  response_headers: attempt && storableHeaders(attempt.responseHeaders),
  body: attempt?.responseBody ? Buffer.from(attempt.responseBody).toString('base64') : null,
});

/** PostgreSQL takes neither NUL nor half of a surrogate pair. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

const storableHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [storable(name), storable(value)]));
