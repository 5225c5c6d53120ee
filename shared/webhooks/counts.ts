import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';

/** Counting goes so far, so that it costs the same however many there are. */
const COUNTED_MAX = 100_000;

/**
 * What is due to a webhook that is disabled waits until somebody enables it: no dispatcher will do anything
 * about it.
 */
export const countDue = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ due: number }>(
    `select count(*) as due from (
       select from webhook_ledger.delivery join webhook_ledger.endpoint using (webhook_id)
       where state = 'due' and status = 'enabled' limit ${COUNTED_MAX}) counted`,
  );
  return rows[0]?.due ?? 0;
};

export type WebhookCounts = {
  readonly endpoints: number;
  readonly enabled: number;
  readonly due: number;
  readonly dead: number;
  /**
   * Endpoints whose last attempt failed, those that were disabled for it included, and since when the first
   * of them fails.
   */
  readonly failing: number;
  readonly failingSince: Date | null;
};

const NONE: WebhookCounts = { endpoints: 0, enabled: 0, due: 0, dead: 0, failing: 0, failingSince: null };

/**
 * An owner who disables a webhook knows of it; one that was disabled because it failed still needs somebody.
 */
const FAILING = `(e.status = 'enabled' and failing_since is not null or e.status <> 'deleted' and exists (
         select from ${LIVE_SCHEMA}.webhooks w where w.id = e.webhook_id and w.disabled_reason in ('failing', 'gone')))`;

/** Of all webhooks, as far as they are planned for. */
export const countWebhooks = async (pool: Pool): Promise<WebhookCounts> => {
  if (!(await hasLedger(pool))) return NONE;
  const { rows } = await pool.query<Omit<WebhookCounts, 'due'>>(
    `select
       (select count(*) from webhook_ledger.endpoint where status <> 'deleted') as endpoints,
       (select count(*) from webhook_ledger.endpoint where status = 'enabled') as enabled,
       (select count(*) from webhook_ledger.endpoint e where ${FAILING}) as failing,
       (select min(failing_since) from webhook_ledger.endpoint e where ${FAILING}) as "failingSince",
       (select count(*) from (select from webhook_ledger.delivery where state = 'dead' limit ${COUNTED_MAX}) counted) as dead`,
  );
  return { ...NONE, ...rows[0], due: await countDue(pool) };
};

/** What has arrived since a moment. */
export const countDelivered = async (pool: Pool, since: Date): Promise<number> => {
  if (!(await hasLedger(pool))) return 0;
  const { rows } = await pool.query<{ delivered: number }>(
    `select count(*) as delivered from
       (select from webhook_ledger.delivery where settled_at > $1 and state = 'delivered' limit ${COUNTED_MAX}) counted`,
    [since],
  );
  return rows[0]?.delivered ?? 0;
};

/** It is made by the first dispatcher that starts. */
const hasLedger = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('webhook_ledger.delivery') is not null as "isThere"`,
  );
  return rows[0]?.isThere === true;
};
