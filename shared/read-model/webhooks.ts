import type { DecodedEvent } from '#shared/events/codec.ts';
import { type Change, sealOf, type Table } from './change.ts';

type Column =
  | 'owner_id'
  | 'url'
  | 'description'
  | 'seal'
  | 'event_types'
  | 'filter_article_id'
  | 'filter_author_id'
  | 'payload'
  | 'is_ordered'
  | 'rate_per_second'
  | 'concurrency'
  | 'header_names'
  | 'scopes'
  | 'is_enabled'
  | 'disabled_reason'
  | 'missed_log'
  | 'missed_since'
  | 'old_secrets_end_at'
  | 'created_at'
  | 'updated_at';

export const WEBHOOKS: Table<Column> = {
  name: 'webhooks',
  kind: 'webhook',
  parent: 'owner_id',
  personal: ['url', 'description', 'header_names'],
  person: 'owner_id',
  columns: {
    id: 'bigint',
    owner_id: 'bigint',
    url: 'text',
    description: 'text',
    seal: 'text',
    event_types: 'text[]',
    filter_article_id: 'bigint',
    filter_author_id: 'bigint',
    payload: 'text',
    is_ordered: 'boolean',
    rate_per_second: 'integer',
    concurrency: 'integer',
    header_names: 'text[]',
    scopes: 'text[]',
    is_enabled: 'boolean',
    disabled_reason: 'text',
    missed_log: 'text',
    missed_since: 'bigint',
    old_secrets_end_at: 'timestamptz',
    version: 'integer',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
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
export const projectWebhook = (event: WebhookEvent): Change<Column> => {
  const { version } = event;
  const at = event.metadata.at;
  const { webhookId: id, ownerId } = event.data;
  const patch = (row: Partial<Record<Column, unknown>>): Change<Column> => ({
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
          ...contentOf(event.data),
          seal: event.seal ?? null,
          ...state,
          version,
          created_at: at,
          updated_at: at,
        },
      };
    }
    case 'webhook.changed':
      return patch({ ...named(contentOf(event.data)), ...sealOf(event) });
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
const contentOf = ({ url, description, eventTypes, filter, payload, ordered, limits, headers, scopes }: Content) => ({
  url,
  description,
  event_types: eventTypes,
  filter_article_id: filter && (filter.articleId ?? null),
  filter_author_id: filter && (filter.authorId ?? null),
  payload,
  is_ordered: ordered,
  rate_per_second: limits?.ratePerSecond,
  concurrency: limits?.concurrency,
  header_names: headers === undefined ? undefined : Object.keys(headers ?? {}),
  scopes,
});

const named = (columns: ReturnType<typeof contentOf>) =>
  Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
