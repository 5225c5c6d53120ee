import type { EventId, WebhookId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Shape } from '../deliver/delivery.ts';

/** How much the first attempt at a delivery is about to tell, in the run of an epoch. */
export type Settled = {
  readonly webhookId: WebhookId;
  readonly epoch: number;
  readonly eventId: EventId;
  readonly shape: Shape;
};

/**
 * Keeps it before it is sent, each only where its run still has its webhook, and answers with the deliveries of those. The disk is
 * waited for: an attempt of which nothing else is known any more is repeated with the same body.
 */
export const settleShapes = async (pool: Pool, settled: readonly Settled[]): Promise<readonly boolean[]> => {
  const { rows } = await pool.query<{ webhookId: WebhookId; epoch: number }>(
    `with given as materialized (
       select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[]) as given (webhook_id, epoch, event_id, shape)
     ), held as materialized (
       select webhook_id, run_epoch as epoch from webhook_ledger.endpoint
       where (webhook_id, run_epoch) in (select webhook_id, epoch from given) order by webhook_id for share
     ), kept as (
       update webhook_ledger.delivery as delivery set shape = given.shape
       from given join held using (webhook_id, epoch)
       where delivery.webhook_id = given.webhook_id and delivery.event_id = given.event_id and delivery.shape is null
     )
     select webhook_id as "webhookId", epoch from held`,
    [
      settled.map(({ webhookId }) => webhookId),
      settled.map(({ epoch }) => epoch),
      settled.map(({ eventId }) => eventId),
      settled.map(({ shape }) => shape),
    ],
  );
  const held = new Map(rows.map(({ webhookId, epoch }) => [webhookId, epoch]));
  return settled.map(({ webhookId, epoch }) => held.get(webhookId) === epoch);
};
