import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import {
  type DisabledReason,
  filterColumnsOf,
  type RecordedPayload,
  sentBy,
  type WebhookFilter,
} from '#kernel/webhook/webhook-fields.ts';
import { HIDDEN_VALUE } from '#shared/commands/webhook.ts';
import { type Caller, may } from '#shared/policy.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { missedSince } from '../history/missed-since.ts';
import { mayProve } from '../kinds/may-prove.ts';

export type WebhookRow = {
  readonly id: number;
  readonly version: number;
  readonly owner_id: number;
  readonly url: string;
  readonly description: string | null;
  readonly event_types: string[];
  readonly payload: RecordedPayload;
  readonly is_ordered: boolean;
  readonly rate_per_second: number;
  readonly concurrency: number;
  readonly header_names: readonly string[];
  readonly scopes: string[];
  readonly is_enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly missed_log: LogIdentity | null;
  readonly missed_since: Position | null;
  readonly old_secrets_end_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

type Shown = { readonly domain: Domain; readonly caller: Caller; readonly identity: LogIdentity };

/** A webhook as its owner sees it: without its secrets and the values of its headers. */
export const representWebhook = (row: WebhookRow, { domain, caller, identity }: Shown): Webhook => {
  const missed = missedSince(row, identity);
  return {
    id: row.id,
    ownerId: row.owner_id,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types,
    filter: filterIn(domain, row),
    ...sentBy(row.payload),
    ordered: row.is_ordered,
    limits: { ratePerSecond: row.rate_per_second, concurrency: row.concurrency },
    headers: Object.fromEntries(row.header_names.map((name) => [name, HIDDEN_VALUE])),
    scopes: row.scopes,
    enabled: row.is_enabled,
    status: row.is_enabled ? 'enabled' : 'disabled',
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    ...(missed !== null && { missedSince: missed }),
    ...(row.old_secrets_end_at !== null && { secretsEndAt: row.old_secrets_end_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    _links: linksOf(domain, row, caller),
  };
};

const filterIn = (domain: Domain, row: Readonly<Record<string, unknown>>): WebhookFilter =>
  Object.fromEntries(
    filterColumnsOf(domain).flatMap(([column, name]) =>
      typeof row[column] === 'number' ? [[name, row[column]]] : [],
    ),
  );

/** Callers who may manage it may do everything that its state allows. */
const linksOf = (
  domain: Domain,
  { id, owner_id, is_enabled }: WebhookRow,
  caller: Caller,
): Record<string, Link> => {
  const self = `/webhooks/${id}`;
  return {
    self: { href: self },
    ...(may(caller, 'events.read', {}) && { history: { href: `${self}/history` } }),
    ...(mayProve(domain, caller) && { proof: { href: `${self}/proof` } }),
    ...(may(caller, 'user.read', { fields: { id: owner_id } }) && { owner: { href: `/users/${owner_id}` } }),
    deliveries: { href: `${self}/deliveries` },
    replays: { href: `${self}/replays` },
    statistics: { href: `${self}/statistics` },
    ...(may(caller, 'webhook.manage', { fields: { owner: owner_id } }) && actionsOn(self, is_enabled)),
  };
};

const actionsOn = (self: string, isEnabled: boolean): Record<string, Link> => {
  const action = (name: string): Link => ({ href: `${self}/${name}`, method: 'POST' });
  return {
    edit: { href: self, method: 'PATCH' },
    delete: { href: self, method: 'DELETE' },
    'rotate-secret': action('rotate-secret'),
    ...(isEnabled
      ? {
          disable: action('disable'),
          test: action('test'),
          replay: action('replay'),
          redrive: action('redrive'),
        }
      : { enable: action('enable') }),
  };
};
