import type { Pool } from '#shared/database/pool.ts';

/** A delivery in the ledger, with the status of each recorded attempt; null without an answer. */
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

/** The checkpoint of the planner, and the pending deliveries per webhook. */
export const readProgress = async (pool: Pool): Promise<Progress | undefined> => {
  const { rows } = await pool.query<Progress>(
    `select (select position from public.follower_checkpoint where follower = 'webhook-planner')::float8 as planned,
       (select count(*) from webhook_ledger.replay where state = 'running')::integer as replays,
       array(select format('%s × %s', count(*), webhook_id) from webhook_ledger.delivery where state = 'due' group by webhook_id) as due`,
  );
  return rows[0];
};

/** Simulates the time after which the claims of dead runs expire. */
export const forgetRuns = async (pool: Pool): Promise<void> => {
  await pool.query(`update webhook_ledger.endpoint set run_until = '-infinity'`);
};
