import type { Domain } from '#kernel/registry/registry.ts';
import type { LogIdentity, WebhookId } from '#shared/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Role } from '#shared/events/fields.ts';
import { streamName } from '#shared/events/streams.ts';
import { type Caller, may, mayAlways } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';
import type { WebhookHealth } from '#shared/rest/webhook.ts';
import { readHealthOfMany } from '#shared/webhooks/health.ts';
import { withheldOf } from '#shared/webhooks/withheld.ts';
import { readList } from '../lists/list.ts';
import type { Order } from '../lists/walk.ts';
import { refuseParked } from '../parked.ts';
import type { Reads } from '../read-routes.ts';
import { representWebhook, type WebhookRow, webhookResource } from './representation.ts';
import { findOwnerRoles, listWebhooks, webhookFinder } from './statements.ts';

type WebhookDependencies = { readonly domain: Domain; readonly pool: Pool; readonly identity: LogIdentity };

export const webhookReads = ({ domain, pool, identity }: WebhookDependencies): Reads<'listWebhooks' | 'getWebhook'> => {
  const findWebhook = createWebhookFinder(domain, pool);
  const readHealth = coalesce<WebhookId, WebhookHealth>((ids) => readHealthOfMany(pool, ids));
  const findRole = coalesce<number, { readonly id: number; readonly role: Role }>((ids) => findOwnerRoles(pool, ids));
  return {
    async listWebhooks({ caller }, asked) {
      const owner = webhookOwnerFor(caller, asked.owner);
      return readList({
        path: '/webhooks',
        asked,
        order: ORDERS[asked.sort ?? '-createdAt'],
        read: async (walk) => (owner === 'nobody' ? [] : listWebhooks({ domain, pool }, { ownerId: owner, enabled: asked.enabled }, walk)),
        represent: (row) => representWebhook(row, { domain, caller, identity }),
        create: { href: '/webhooks', method: 'POST' },
      });
    },

    async getWebhook({ caller, id }) {
      const webhook = await findWebhook(id, caller);
      const [health, owner] = await Promise.all([readHealth(webhook.id as WebhookId), findRole(webhook.owner_id)]);
      const withheld = owner && withheldOf(domain, { eventTypes: webhook.event_types, scopes: webhook.scopes }, owner.role);
      return {
        kind: 'item',
        version: webhook.version,
        item: {
          ...representWebhook(webhook, { domain, caller, identity }),
          ...(withheld && { withheld: [...withheld] }),
          ...(health && { health }),
        },
      };
    },
  };
};

/** Whose webhooks of those that are asked for the caller may see; undefined are everybody's. */
export const webhookOwnerFor = (caller: Caller, asked: number | undefined): number | undefined | 'nobody' => {
  if (mayAlways(caller, 'webhook.manage')) return asked;
  if (caller.kind !== 'user' || (asked ?? caller.userId) !== caller.userId) return 'nobody';
  return caller.userId;
};

const ORDERS = {
  '-createdAt': { column: 'created_at', descending: true },
  createdAt: { column: 'created_at', descending: false },
} as const satisfies Record<string, Order>;

/** Finds the webhook that a path names; another's is refused as absent. */
type FindWebhook = (id: string, caller: Caller) => Promise<WebhookRow>;

const createWebhookFinder = (domain: Domain, pool: Pool): FindWebhook => {
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
