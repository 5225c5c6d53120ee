import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';

/** Counting stops here, so that it costs the same for any number. */
const COUNTED_MAX = 100_000;

/**
 * Leaves out deliveries of disabled webhooks, which wait until somebody enables them: no dispatcher sends
 * them.
 */
export const countDue = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ due: number }>(`select ${DUE} as due`);
  return rows[0]?.due ?? 0;
};

const DUE = `(select count(*) from (
  select from webhook_ledger.delivery join webhook_ledger.endpoint using (webhook_id)
  where state = 'due' and status = 'enabled' limit ${COUNTED_MAX}) counted)`;

export type WebhookCounts = {
  readonly endpoints: number;
  readonly enabled: number;
  readonly due: number;
  readonly dead: number;
  /**
   * Endpoints whose last attempt failed, including those disabled for it, and since when the first of them
   * fails.
   */
  readonly failing: number;
  readonly failingSince: Date | null;
};

const NO_WEBHOOKS: WebhookCounts = {
  endpoints: 0,
  enabled: 0,
  due: 0,
  dead: 0,
  failing: 0,
  failingSince: null,
};

/**
 * An owner who disables a webhook knows about it; one that was disabled because it failed still needs
 * attention.
 */
const FAILING = `(e.status = 'enabled' and failing_since is not null or e.status <> 'deleted' and exists (
         select from ${LIVE_SCHEMA}.webhooks w where w.id = e.webhook_id and w.disabled_reason in ('failing', 'gone')))`;

/** All webhooks that the ledger knows. */
export const countWebhooks = async (pool: Pool): Promise<WebhookCounts> => {
  if (!(await hasLedger(pool))) return NO_WEBHOOKS;
  const { rows } = await pool.query<WebhookCounts>(
    `select ${DUE} as due,
       (select count(*) from webhook_ledger.endpoint where status <> 'deleted') as endpoints,
       (select count(*) from webhook_ledger.endpoint where status = 'enabled') as enabled,
       (select count(*) from webhook_ledger.endpoint e where ${FAILING}) as failing,
       (select min(failing_since) from webhook_ledger.endpoint e where ${FAILING}) as "failingSince",
       (select count(*) from (select from webhook_ledger.delivery where state = 'dead' limit ${COUNTED_MAX}) counted) as dead`,
  );
  return { ...NO_WEBHOOKS, ...rows[0] };
};

/** The deliveries that have succeeded since a moment. */
export const countDelivered = async (pool: Pool, since: Date): Promise<number> => {
  if (!(await hasLedger(pool))) return 0;
  const { rows } = await pool.query<{ delivered: number }>(
    `select count(*) as delivered from
       (select from webhook_ledger.delivery where settled_at > $1 and state = 'delivered' limit ${COUNTED_MAX}) counted`,
    [since],
  );
  return rows[0]?.delivered ?? 0;
};

/** The first dispatcher creates it at its start, and it stays. */
const hasLedger = async (pool: Pool): Promise<boolean> => {
  if (withLedger.has(pool)) return true;
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('webhook_ledger.delivery') is not null as "isThere"`,
  );
  if (rows[0]?.isThere === true) withLedger.add(pool);
  return withLedger.has(pool);
};

const withLedger = new WeakSet<Pool>();
