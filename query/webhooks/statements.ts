import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Role } from '#shared/events/fields.ts';
import { filterColumnsOf } from '#shared/events/webhook.ts';
import { clausesOf, type Walk } from '../lists/walk.ts';
import { createFinder, Parameters, runShared } from '../statement.ts';
import type { WebhookRow } from './representation.ts';

export const webhookColumnsOf = (domain: Domain): string => `t.id, t.version, t.owner_id, t.url, t.description, t.event_types,
  ${filterColumnsOf(domain)
    .map(([column]) => `t.${column}, `)
    .join('')}t.payload,
  t.is_ordered, t.rate_per_second, t.concurrency, t.header_names, t.scopes, t.is_enabled, t.disabled_reason, t.missed_log, t.missed_since,
  t.old_secrets_end_at, t.created_at, t.updated_at`;

/** What has no address any more is about to go with its owner. */
export const webhookFinder = (domain: Domain) =>
  createFinder<WebhookRow>(
    (condition) => `select ${webhookColumnsOf(domain)} from read_model.webhooks t where ${condition} and t.url is not null`,
  );

/** In the role that they have now. */
export const findOwnerRoles = createFinder<{ readonly id: number; readonly role: Role }>(
  (condition) => `select t.id, t.role from read_model.users t where ${condition} and t.deleted_at is null`,
);

/** Which of them; without an owner, everybody's. */
type WebhookFilter = { readonly ownerId: number | undefined; readonly enabled: boolean | undefined };

export const listWebhooks = async (
  { domain, pool }: { readonly domain: Domain; readonly pool: Pool },
  { ownerId, enabled }: WebhookFilter,
  walk: Walk<'created_at'>,
): Promise<readonly WebhookRow[]> => {
  const parameters = new Parameters();
  const { where, order } = clausesOf(walk, parameters);
  const conditions = [
    't.url is not null',
    ...(ownerId === undefined ? [] : [`t.owner_id = ${parameters.add(ownerId)}`]),
    ...(enabled === undefined ? [] : [`t.is_enabled = ${parameters.add(enabled)}`]),
    ...(where === undefined ? [] : [where]),
  ].join(' and ');
  return runShared<WebhookRow>(
    pool,
    `select ${webhookColumnsOf(domain)} from read_model.webhooks t where ${conditions} ${order}`,
    parameters.values,
  );
};
