import type { Pool } from '#shared/database/pool.ts';

const ROWS_MAX = 1_000;

/** Forgets some of what was settled so many days ago, with its attempts; answers whether there may be more. */
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
     )
     select count(*) as gone from deliveries`,
    [keepDays],
  );
  return rows[0]?.gone === ROWS_MAX;
};

/** Forgets some changes that nothing is left of; answers whether there may be more. Who plans one again meanwhile has it stay. */
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
