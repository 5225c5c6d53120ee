import type { Pool } from '#shared/database/pool.ts';
import { STATISTICS_HOURS_MAX } from '#shared/rest/deliveries.ts';

const ROWS_MAX = 1_000;

/**
 * Deletes some deliveries that were settled that many days ago, with their attempts; returns whether there
 * may be more.
 */
export const purgeSome = async (pool: Pool, keepDays: number): Promise<boolean> => {
  const { rows } = await pool.query<{ gone: number }>(
    `with old as (
       select webhook_id, event_id from webhook_ledger.delivery
       where state <> 'due' and settled_at < now() - $1 * interval '1 day' order by settled_at limit ${ROWS_MAX} for update skip locked
     ), attempts as (
       delete from webhook_ledger.attempt using old
       where attempt.webhook_id = old.webhook_id and attempt.event_id = old.event_id
     ), deliveries as (
       delete from webhook_ledger.delivery using old
       where delivery.webhook_id = old.webhook_id and delivery.event_id = old.event_id returning 1
     ), replays as (
       delete from webhook_ledger.replay where finished_at < now() - $1 * interval '1 day'
     ), tallies as (
       delete from webhook_ledger.tally where at < now() - ${STATISTICS_HOURS_MAX + 1} * interval '1 hour'
     )
     select count(*) as gone from deliveries`,
    [keepDays],
  );
  return rows[0]?.gone === ROWS_MAX;
};

const WEBHOOKS_MAX = 100;

/**
 * Deletes some attempts at deliveries to deleted webhooks, and the reasons of failures; returns whether there
 * may be more. A webhook without attempts is marked as done at the next call, because nothing is recorded for
 * it after its deletion.
 */
export const forgetDeleted = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ found: number }>(
    `with deleted as materialized (
       select webhook_id from webhook_ledger.endpoint where status = 'deleted' and not is_forgotten
       order by webhook_id limit ${WEBHOOKS_MAX} for update skip locked
     ), part as (
       select attempt.webhook_id, event_id, number from deleted join webhook_ledger.attempt using (webhook_id) limit ${ROWS_MAX}
     ), attempts as (
       delete from webhook_ledger.attempt using part
       where attempt.webhook_id = part.webhook_id and attempt.event_id = part.event_id and attempt.number = part.number
     ), reasons as (
       update webhook_ledger.delivery as delivery set last_error = null from deleted
       where delivery.webhook_id = deleted.webhook_id and last_error is not null
     ), through as (
       update webhook_ledger.endpoint as endpoint set is_forgotten = true from deleted
       where endpoint.webhook_id = deleted.webhook_id
         and not exists (select from webhook_ledger.attempt where attempt.webhook_id = deleted.webhook_id)
     )
     select count(*) as found from deleted`,
  );
  return rows[0]?.found !== 0;
};

/**
 * An attempt that began before an erasure may still be in progress for this long: attempts end within ten
 * minutes.
 */
const UNDER_WAY_MINUTES = 20;

/** SQL that is true if a webhook was deleted, or a person was erased recently. */
export const ARE_TO_FORGET = `(exists (select from webhook_ledger.endpoint where status = 'deleted' and not is_forgotten)
  or exists (select from public.person_key where destroyed_at > now() - ${UNDER_WAY_MINUTES} * interval '1 minute'))`;

/**
 * Deletes some responses of receivers to deliveries about erased people, because they may repeat personal
 * data; returns whether there may be more. By default only for recent erasures.
 */
export const forgetErased = async (
  pool: Pool,
  within: 'a short time' | 'all time' = 'a short time',
): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `with affected as materialized (
       select attempt.webhook_id, attempt.event_id, number
       from public.person_key join webhook_ledger.message on message.person_id = person_key.subject
         join webhook_ledger.delivery on delivery.event_id = message.event_id
         join webhook_ledger.attempt on attempt.webhook_id = delivery.webhook_id and attempt.event_id = delivery.event_id
       where destroyed_at > $1::timestamptz and (response_body is not null or response_headers <> '{}' or attempt.error is not null)
       limit ${ROWS_MAX}
     ), reasons as (
       update webhook_ledger.delivery as delivery set last_error = null from affected
       where delivery.webhook_id = affected.webhook_id and delivery.event_id = affected.event_id and last_error is not null
     )
     update webhook_ledger.attempt as attempt set response_body = null, response_headers = '{}', error = null from affected
     where attempt.webhook_id = affected.webhook_id and attempt.event_id = affected.event_id and attempt.number = affected.number`,
    [within === 'all time' ? '-infinity' : new Date(Date.now() - UNDER_WAY_MINUTES * 60_000)],
  );
  return rowCount === ROWS_MAX;
};

/**
 * Deletes some changes without deliveries; returns whether there may be more. A change that is planned again
 * meanwhile stays.
 */
export const purgeMessages = async (pool: Pool, keepDays: number): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `delete from webhook_ledger.message using (
       select message.event_id from webhook_ledger.message
       where recorded_at < now() - $1 * interval '1 day'
         and not exists (select from webhook_ledger.delivery where delivery.event_id = message.event_id)
       order by recorded_at limit ${ROWS_MAX}) old
     where message.event_id = old.event_id and recorded_at < now() - $1 * interval '1 day'`,
    [keepDays],
  );
  return rowCount === ROWS_MAX;
};
