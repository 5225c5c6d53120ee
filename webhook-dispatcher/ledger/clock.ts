import type { WebhookId } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';

/**
 * The interval between records of the time. A clock that is set back by less delays nothing by more than
 * this.
 */
const WRITTEN_EVERY_MS = 30_000;

/** SQL that is true if the clock was set back, or its time is to be recorded. */
export const HAS_MOVED = `exists (select from webhook_ledger.clock
  where seen_at > clock_timestamp() or seen_at <= clock_timestamp() - ${WRITTEN_EVERY_MS} * interval '1 millisecond')`;

/**
 * Detects that the clock of the database was set back, even while no process ran. Waiting deliveries and
 * pauses are then shortened, instead of waiting until the clock has caught up. Returns by how much the clock
 * was set back.
 */
export const followClock = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ aheadMs: number }>(
    'select extract(epoch from seen_at - clock_timestamp())::float8 * 1000 as "aheadMs" from webhook_ledger.clock',
  );
  const aheadMs = rows[0]?.aheadMs ?? 0;
  if (aheadMs > 0) return inTransaction(pool, moveClock);
  if (aheadMs <= -WRITTEN_EVERY_MS) await pool.query(RECORD_TIME);
  return 0;
};

/** Only forwards: a process that finds the time ahead of the clock shortens the waits. */
const RECORD_TIME =
  'update webhook_ledger.clock set seen_at = clock_timestamp() where seen_at < clock_timestamp()';

/** Locks the row, so that only one of several processes shortens the waits. */
const moveClock = async (connection: Connection): Promise<number> => {
  const { rows } = await connection.query<{ aheadMs: number }>(
    `with former as (select seen_at from webhook_ledger.clock for update)
     update webhook_ledger.clock set seen_at = clock_timestamp() from former
     returning extract(epoch from former.seen_at - clock.seen_at)::float8 * 1000 as "aheadMs"`,
  );
  const setBackByMs = rows[0]?.aheadMs ?? 0;
  if (setBackByMs <= 0) return 0;
  for (const webhookId of await selectWaiting(connection)) await shorten(connection, webhookId, setBackByMs);
  return setBackByMs;
};

const selectWaiting = async (connection: Connection): Promise<readonly WebhookId[]> => {
  const { rows } = await connection.query<{ webhookId: WebhookId }>(
    `select webhook_id as "webhookId" from webhook_ledger.endpoint
     where not_before > clock_timestamp() or next_send_at > clock_timestamp() or exists (
       select from webhook_ledger.delivery due
       where due.webhook_id = endpoint.webhook_id and due.state = 'due' and due.next_at > clock_timestamp())
     order by webhook_id`,
  );
  return rows.map(({ webhookId }) => webhookId);
};

/** The webhook before its deliveries, in the order in which recording locks them. */
const shorten = async (connection: Connection, webhookId: WebhookId, byMs: number): Promise<void> => {
  await connection.query(
    `update webhook_ledger.endpoint
     set not_before = not_before - $2 * interval '1 millisecond', next_send_at = next_send_at - $2 * interval '1 millisecond'
     where webhook_id = $1`,
    [webhookId, byMs],
  );
  await connection.query(
    `update webhook_ledger.delivery set next_at = next_at - $2 * interval '1 millisecond'
     where webhook_id = $1 and state = 'due' and next_at > clock_timestamp()`,
    [webhookId, byMs],
  );
};
