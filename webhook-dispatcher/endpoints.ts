import type { Position, UserId, Version, WebhookId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { WebhookEventType, WebhookFilter } from '#shared/events/webhook.ts';

/** A webhook as far as it matters for what is sent to it, and when. */
export type PlannedEndpoint = {
  readonly webhookId: WebhookId;
  readonly ownerId: UserId;
  /** Of whoever decided what goes where: more than they could read is not planned. */
  readonly scopes: ReadonlySet<string>;
  readonly version: Version;
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly eventTypes: readonly string[];
  readonly filter: WebhookFilter;
  readonly payload: 'thin' | 'full';
  readonly isOrdered: boolean;
  readonly limits: { readonly ratePerSecond: number; readonly concurrency: number };
};

type WebhookEvent = EventOf<WebhookEventType>;
type Personal = 'url' | 'description' | 'headers' | 'secret';
/** What a change tells of a webhook: the event without what is personal. */
export type WebhookChange = WebhookEvent extends infer Event
  ? Event extends WebhookEvent
    ? { readonly type: Event['type']; readonly data: Omit<Event['data'], Personal>; readonly version: Version; readonly position: Position }
    : never
  : never;

/** Nothing where it is about something else, or damaged, so that nothing is known of it. */
export const webhookChangeOf = ({ stream, type, data, version, position }: Change): WebhookChange | undefined =>
  // The stream of changes has checked the data by the definition of the type.
  stream.startsWith('webhook-') && 'webhookId' in data ? ({ type, data, version, position } as unknown as WebhookChange) : undefined;

/** What a webhook is after a change of it; nothing where nothing was known of it. */
export const endpointAfter = (before: PlannedEndpoint | undefined, { type, data, version }: WebhookChange): PlannedEndpoint | undefined => {
  if (type === 'webhook.registered') {
    const { webhookId, ownerId, eventTypes, filter, payload, ordered: isOrdered, limits, enabled } = data;
    const status = enabled ? 'enabled' : 'disabled';
    return { webhookId, ownerId, scopes: new Set(data.scopes), version, status, eventTypes, filter, payload, isOrdered, limits };
  }
  if (!before) return undefined;
  switch (type) {
    case 'webhook.changed': {
      const {
        eventTypes = before.eventTypes,
        filter = before.filter,
        payload = before.payload,
        ordered: isOrdered = before.isOrdered,
        limits = before.limits,
      } = data;
      const scopes = data.scopes ? new Set(data.scopes) : before.scopes;
      return { ...before, scopes, version, eventTypes, filter, payload, isOrdered, limits };
    }
    case 'webhook.enabled':
      return { ...before, scopes: new Set(data.scopes), version, status: 'enabled' };
    case 'webhook.disabled':
      return { ...before, version, status: 'disabled' };
    case 'webhook.deleted':
      return { ...before, version, status: 'deleted' };
    case 'webhook.secret_rotated':
    case 'webhook.test_requested':
    case 'webhook.replay_requested':
    case 'webhook.redelivery_requested':
    case 'webhook.redrive_requested':
      return { ...before, version };
  }
};
