import type { EventId, Position, WebhookId } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { DUE_AGAIN, type PlannedDelivery, writeMessages } from './plan-rows.ts';

/** The progress of a replay. */
export type RunningReplay = {
  readonly id: EventId;
  readonly webhookId: WebhookId;
  readonly to: Position;
  /** Only changes at this time or later. */
  readonly time: Date | null;
  readonly at: Position;
};

const RUNNING_MAX = 100;

/** SQL that is true if there is a replay to carry on. */
export const ARE_RUNNING = `exists (select from webhook_ledger.replay where state = 'running')`;

/**
 * The oldest replay of each enabled webhook, because they run in sequence; those that have waited longest
 * come first.
 */
export const readRunningReplays = async (
  pool: Pool,
  except: readonly WebhookId[],
): Promise<readonly RunningReplay[]> => {
  const { rows } = await pool.query<RunningReplay>(
    `select id, webhook_id as "webhookId", to_position as "to", from_time as "time", at_position as "at"
     from (
       select distinct on (replay.webhook_id) replay.*
       from webhook_ledger.replay join webhook_ledger.endpoint on endpoint.webhook_id = replay.webhook_id and endpoint.status = 'enabled'
       where replay.state = 'running' and replay.webhook_id <> all ($1) order by replay.webhook_id, requested_at
     ) oldest order by requested_at limit ${RUNNING_MAX}`,
    [except],
  );
  return rows;
};

/** The number of due deliveries of a webhook, counted up to a maximum. */
export const countDueOf = async (pool: Pool, webhookId: WebhookId, max: number): Promise<number> => {
  const { rows } = await pool.query<{ due: number }>(
    `select count(*) as due from (
       select from webhook_ledger.delivery where webhook_id = $1 and state = 'due' limit $2) counted`,
    [webhookId, max],
  );
  return rows[0]?.due ?? 0;
};

/**
 * Makes deliveries due, existing or new, whatever their state, and advances the replay. False if another
 * process has advanced it, or the webhook was deleted: then nothing is written.
 */
export const advanceReplay = (
  pool: Pool,
  { id, webhookId, to, at }: RunningReplay,
  { upTo, deliveries, catalogue }: { readonly upTo: Position } & Pick<Again, 'deliveries' | 'catalogue'>,
): Promise<boolean> =>
  inTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      `update webhook_ledger.replay set at_position = $3,
         state = case when $4 then 'finished' else state end, finished_at = case when $4 then now() end
       where id = $1 and at_position = $2 and state = 'running'`,
      [id, at, Math.min(upTo, to), upTo >= to],
    );
    if (rowCount !== 1) return false;
    if (deliveries.length === 0) return true;
    const planned = await writeAgain(connection, { id, webhookId, deliveries, catalogue });
    await connection.query('update webhook_ledger.replay set planned = planned + $2 where id = $1', [
      id,
      planned,
    ]);
    return true;
  });

type Again = Pick<RunningReplay, 'id' | 'webhookId'> & {
  readonly deliveries: readonly PlannedDelivery[];
  readonly catalogue: Catalogue;
};

/**
 * Returns the number of deliveries that it has made due. Skips due deliveries, so that it and runs, which lock many of those in their own order, never wait for each
 * other.
 */
const writeAgain = async (
  connection: Connection,
  { id, webhookId, deliveries, catalogue }: Again,
): Promise<number> => {
  await writeMessages(connection, catalogue, deliveries);
  const changes = deliveries.map(({ change }) => change);
  const again = await connection.query(
    `update webhook_ledger.delivery set ${DUE_AGAIN}, replay_id = $2 where webhook_id = $1 and event_id = any($3) and state <> 'due'`,
    [webhookId, id, changes.map((change) => change.id)],
  );
  // Afterwards, because deliveries that were just purged no longer exist.
  const made = await connection.query(
    `insert into webhook_ledger.delivery (webhook_id, replay_id, event_id, position, type, subject, shape)
     select $1, $2, * from unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[])
     on conflict (event_id, webhook_id) do nothing`,
    [
      webhookId,
      id,
      changes.map((change) => change.id),
      changes.map(({ position }) => position),
      changes.map(({ type }) => type),
      changes.map(({ stream }) => stream),
      deliveries.map(({ shape }) => shape),
    ],
  );
  return (again.rowCount ?? 0) + (made.rowCount ?? 0);
};
