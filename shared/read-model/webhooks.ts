import type { Domain } from '#kernel/registry/registry.ts';
import type { TableDefinition } from '#kernel/rows/definition.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { filterColumnsOf, type WebhookFilter } from '#shared/events/webhook.ts';
import { type Change, sealOf, type Table } from './change.ts';

type Row = Readonly<Record<string, unknown>>;

const columnsOf = (domain: Domain) => ({
  id: 'bigint primary key',
  owner_id: 'bigint not null',
  // Null only if its owner's key was destroyed and their deletion is still to come.
  url: 'text',
  description: 'text',
  seal: 'text',
  event_types: 'text[] not null',
  ...Object.fromEntries(filterColumnsOf(domain).map(([column]) => [column, 'bigint'])),
  payload: 'text not null',
  is_ordered: 'boolean not null',
  rate_per_second: 'integer not null',
  concurrency: 'integer not null',
  header_names: 'text[] not null',
  scopes: 'text[] not null',
  is_enabled: 'boolean not null',
  disabled_reason: 'text',
  // After which position, and of which log if not of the one that is projected, changes were not delivered, until they are replayed.
  missed_log: 'text',
  missed_since: 'bigint',
  old_secrets_end_at: 'timestamptz',
  version: 'integer not null',
  created_at: 'timestamptz not null',
  updated_at: 'timestamptz not null',
});

export const webhookTableOf = (domain: Domain): Table & { readonly definition: TableDefinition } => {
  const columns = columnsOf(domain);
  const personal = ['url', 'description', 'header_names'];
  const lines = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return {
    name: 'webhooks',
    kind: 'webhook',
    parent: 'owner_id',
    personal,
    person: 'owner_id',
    columns: Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, type.split(' ', 1)[0]])) as Table['columns'],
    definition: {
      table: `create table webhooks (\n  ${lines.join(',\n  ')}\n)`,
      indexes: [
        'create index webhooks_by_creation on webhooks (created_at desc, id desc)',
        'create index webhooks_by_owner on webhooks (owner_id, created_at desc, id desc)',
      ],
      unsampled: `alter table webhooks ${personal.map((name) => `alter column ${name} set statistics 0`).join(', ')}`,
    },
  };
};

export type WebhookEvent = DecodedEvent<
  | 'webhook.registered'
  | 'webhook.changed'
  | 'webhook.secret_rotated'
  | 'webhook.enabled'
  | 'webhook.disabled'
  | 'webhook.deleted'
  | 'webhook.test_requested'
  | 'webhook.replay_requested'
  | 'webhook.redelivery_requested'
  | 'webhook.redrive_requested'
>;

type Content = Partial<Extract<WebhookEvent, { type: 'webhook.registered' }>['data']>;

/** Secrets are nowhere in the read model, and of headers only their names. */
export const projectWebhook = (domain: Domain, event: WebhookEvent): Change => {
  const { version } = event;
  const at = event.metadata.at;
  const { webhookId: id, ownerId } = event.data;
  const patch = (row: Row): Change => ({
    kind: 'patch',
    row: { id, ...row, version, updated_at: at },
  });
  switch (event.type) {
    case 'webhook.registered': {
      const { enabled } = event.data;
      const state = { is_enabled: enabled, disabled_reason: enabled ? null : 'owner', ...missedOf(null), old_secrets_end_at: null };
      return {
        kind: 'put',
        row: {
          id,
          owner_id: ownerId,
          ...contentOf(domain, event.data),
          seal: event.seal ?? null,
          ...state,
          version,
          created_at: at,
          updated_at: at,
        },
      };
    }
    case 'webhook.changed':
      return patch({ ...named(contentOf(domain, event.data)), ...sealOf(event) });
    case 'webhook.secret_rotated':
      return patch({ old_secrets_end_at: event.data.oldSecretsEndAt });
    case 'webhook.enabled':
      return patch({ scopes: event.data.scopes, is_enabled: true, disabled_reason: null });
    case 'webhook.disabled': {
      const { reason, missed } = event.data;
      return patch({ is_enabled: false, disabled_reason: reason, ...missedOf(missed) });
    }
    case 'webhook.deleted':
      return { kind: 'drop', row: { id, version } };
    case 'webhook.replay_requested':
      return { kind: 'patch', row: { id, ...missedOf(event.data.missed), version } };
    // Say nothing of the webhook, but count as versions, which writers compare.
    case 'webhook.test_requested':
    case 'webhook.redelivery_requested':
    case 'webhook.redrive_requested':
      return { kind: 'patch', row: { id, version } };
  }
};

/** The log is told as well, because the row must be the same in every copy of it, wherever it is shown. */
const missedOf = (missed: Extract<WebhookEvent, { type: 'webhook.disabled' }>['data']['missed']) => ({
  missed_log: missed?.since.log ?? null,
  missed_since: missed?.since.position ?? null,
});

/** What an event does not name is undefined. */
const contentOf = (domain: Domain, data: Content): Row => {
  const { url, description, eventTypes, filter, payload, ordered, limits, headers, scopes } = data;
  return {
    url,
    description,
    event_types: eventTypes,
    ...(filter && filterRow(domain, filter)),
    payload,
    is_ordered: ordered,
    rate_per_second: limits?.ratePerSecond,
    concurrency: limits?.concurrency,
    header_names: headers === undefined ? undefined : Object.keys(headers ?? {}),
    scopes,
  };
};

const filterRow = (domain: Domain, filter: WebhookFilter): Row =>
  Object.fromEntries(filterColumnsOf(domain).map(([column, name]) => [column, filter[name] ?? null]));

/** What a row says of it. */
export const filterIn = (domain: Domain, row: Row): WebhookFilter =>
  Object.fromEntries(filterColumnsOf(domain).flatMap(([column, name]) => (typeof row[column] === 'number' ? [[name, row[column]]] : [])));

const named = (columns: Row): Row => Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
