import type { UserId } from '#shared/brands.ts';
import type { WebhookContent } from '#shared/commands/webhook.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { DisabledReason } from '#shared/events/webhook.ts';

export type WebhookEvent = EventOf<
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

export type WebhookState = { readonly status: 'absent' } | PresentWebhook | { readonly status: 'deleted'; readonly ownerId: UserId };

/** What is personal is `null` once the owner's key was destroyed. */
export type PresentWebhook = Readonly<Omit<WebhookContent, 'url' | 'headers'>> & {
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: DisabledReason | null;
  readonly ownerId: UserId;
  readonly scopes: readonly string[];
  readonly url: string | null;
  readonly headers: WebhookContent['headers'] | null;
  readonly secret: string | null;
  /** When those before it end, in order. */
  readonly oldSecretsEnd: readonly string[];
  readonly missed: Missed;
  /** The id of the latest request, so that repeating that one changes nothing. */
  readonly requestId: string | null;
};

/** From where on changes were not delivered that the owner did not forgo. It stays until they are replayed from there or further back. */
export type Missed = EventOf<'webhook.disabled'>['data']['missed'];
