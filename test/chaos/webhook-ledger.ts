import type { Pool } from '#shared/database/pool.ts';

/**
 * What the ledger says of a delivery, with the status of each attempt that was recorded; null where no answer
 * came.
 */
export type LedgerRow = {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly statuses: readonly (number | null)[];
};

export const readLedger = async (pool: Pool, webhookId: number): Promise<readonly LedgerRow[]> => {
  const { rows } = await pool.query<LedgerRow>(
    `select event_id as id, state, attempts, array(
       select status from webhook_ledger.attempt made
       where made.webhook_id = delivery.webhook_id and made.event_id = delivery.event_id order by number) as statuses
     from webhook_ledger.delivery where webhook_id = $1 order by position`,
    [webhookId],
  );
  return rows;
};

type Progress = { readonly planned: number; readonly replays: number; readonly due: readonly string[] };

/** How far the planner has come, and what is still to be done: of which webhook how much. */
export const readProgress = async (pool: Pool): Promise<Progress | undefined> => {
  const { rows } = await pool.query<Progress>(
    `select (select position from public.follower_checkpoint where follower = 'webhook-planner')::float8 as planned,
       (select count(*) from webhook_ledger.replay where state = 'running')::integer as replays,
       array(select format('%s × %s', count(*), webhook_id) from webhook_ledger.delivery where state = 'due' group by webhook_id) as due`,
  );
  return rows[0];
};

/** As if the time had passed in which a run is waited for that says nothing any more. */
export const forgetRuns = async (pool: Pool): Promise<void> => {
  await pool.query(`update webhook_ledger.endpoint set run_until = '-infinity'`);
};
