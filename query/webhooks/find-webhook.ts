import type { Domain } from '#kernel/registry/registry.ts';
import type { WebhookId } from '#shared/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { streamName } from '#shared/events/streams.ts';
import { type Caller, may } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { refuseParked } from '../parked.ts';
import { type WebhookRow, webhookResource } from './representation.ts';
import { webhookFinder } from './statements.ts';

/** Finds the webhook that a path names; another's is refused as absent. */
export type FindWebhook = (id: string, caller: Caller) => Promise<WebhookRow>;

export const createWebhookFinder = (domain: Domain, pool: Pool): FindWebhook => {
  const findWebhooks = webhookFinder(domain);
  const find = coalesce<number, WebhookRow>((ids) => findWebhooks(pool, ids));
  return async (text, caller) => {
    const id = pathId(text);
    const webhook = id === undefined ? undefined : await find(id);
    if (id !== undefined && webhook === undefined) await refuseParked(pool, streamName('webhook', id as WebhookId));
    if (webhook === undefined || !may(caller, 'webhook.manage', webhookResource(webhook))) throw new Rejection('webhook_not_found');
    return webhook;
  };
};
