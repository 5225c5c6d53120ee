import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import { evolveWebhook, isOfWebhook, presentIn, type WebhookEvent } from '#kernel/declare/webhook.ts';
import type { Position, UserId, Version, WebhookId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { WebhookFilter } from '#shared/events/webhook.ts';

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

type Personal = 'url' | 'description' | 'headers' | 'secret';
/** What a change tells of a webhook: the event without what is personal. */
export type WebhookChange = WebhookEvent extends infer Event
  ? Event extends WebhookEvent
    ? {
        readonly type: Event['type'];
        readonly data: Omit<Event['data'], Personal>;
        readonly version: Version;
        readonly position: Position;
      }
    : never
  : never;

/**
 * Nothing where it is about something else, of a later release, or damaged, so that nothing is known of it.
 */
export const webhookChangeOf = ({
  stream,
  type,
  data,
  version,
  position,
}: Change): WebhookChange | undefined =>
  // The stream of changes has checked the data by the definition of the type.
  stream.startsWith('webhook-') && isOfWebhook(type) && 'webhookId' in data
    ? ({ type, data, version, position } as unknown as WebhookChange)
    : undefined;

/** What a webhook is after a change of it; nothing where nothing was known of it. */
export const endpointAfter = (
  before: PlannedEndpoint | undefined,
  { type, data, version }: WebhookChange,
): PlannedEndpoint | undefined => {
  const present = presentIn(evolveWebhook(before ? stateOf(before) : ABSENT, { type, data }));
  if (!present) return before && { ...before, version, status: 'deleted' };
  const {
    id: webhookId,
    owner: ownerId,
    enabled,
    eventTypes,
    filter,
    payload,
    ordered: isOrdered,
    limits,
  } = present;
  const scopes = present.scopes as PlannedEndpoint['scopes'] | readonly string[];
  return {
    ...{
      webhookId,
      ownerId,
      version,
      status: enabled ? 'enabled' : 'disabled',
      eventTypes,
      filter,
      payload,
      isOrdered,
      limits,
    },
    scopes: scopes instanceof Set ? scopes : new Set(scopes),
  };
};

/** As far as it is known here. */
const stateOf = ({
  webhookId: id,
  ownerId: owner,
  status,
  isOrdered: ordered,
  ...fields
}: PlannedEndpoint): AggregateState => ({
  status: 'present',
  fields: { ...fields, id, owner, ordered, enabled: status === 'enabled' },
  lostUploads: '',
});
