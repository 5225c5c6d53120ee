import { parked } from '#edge/http/parked.ts';
import type { UserId, WebhookId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { type Caller, may, rightByMethod } from '#shared/policy.ts';

/**
 * Returns whether the caller can have deliveries of a webhook repeated: if it is enabled, and they may manage it.
 * Another’s webhook is refused as absent. For a parked one, neither is known.
 */
type FindWebhook = (webhookId: WebhookId, caller: Caller) => Promise<{ readonly isEnabled: boolean }>;

export const createWebhookFinder =
  (pool: Pool): FindWebhook =>
  async (webhookId, caller) => {
    const { rows } = await pool.query<{ ownerId: UserId; isEnabled: boolean }>(
      `select owner_id as "ownerId", is_enabled as "isEnabled" from ${LIVE_SCHEMA}.webhooks where id = $1`,
      [webhookId],
    );
    const [webhook] = rows;
    if (!webhook && (await isParked(pool, webhookId))) throw parked();
    const resource = { fields: { owner: webhook?.ownerId } };
    if (!webhook || !may(caller, rightByMethod(caller, 'webhook.manage', 'GET'), resource))
      throw new Rejection('webhook_not_found');
    return { isEnabled: webhook.isEnabled && may(caller, 'webhook.manage', resource) };
  };

const isParked = async (pool: Pool, webhookId: WebhookId): Promise<boolean> => {
  const { rowCount } = await pool.query(`select from ${LIVE_SCHEMA}.parked where stream = $1`, [
    streamName('webhook', webhookId),
  ]);
  return rowCount !== 0;
};
