import type { Position, UserId, Version, WebhookId } from '#kernel/base/brands.ts';
import { evolveWebhook } from '#kernel/decide/evolve-webhook.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import { isOfWebhook, presentIn, type WebhookEvent } from '#kernel/webhook/webhook.ts';
import {
  recordedAs,
  sentBy,
  type WebhookFilter,
  type WebhookFormat,
} from '#kernel/webhook/webhook-fields.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';

/** The part of a webhook that decides what is sent to it, and when. */
export type PlannedEndpoint = {
  readonly webhookId: WebhookId;
  readonly ownerId: UserId;
  /** The scopes of the user who decided destination and selection: nothing beyond them is planned. */
  readonly scopes: ReadonlySet<string>;
  readonly version: Version;
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly eventTypes: readonly string[];
  readonly filter: WebhookFilter;
  readonly payload: 'thin' | 'full';
  readonly format: WebhookFormat;
  readonly isOrdered: boolean;
  readonly limits: { readonly ratePerSecond: number; readonly concurrency: number };
};

type Personal = 'url' | 'description' | 'headers' | 'secret';
/** A webhook event without its personal data. */
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
 * Undefined if the change is about something else, from a later release, or damaged, so that nothing is known
 * of it.
 */
export const webhookChangeOf = ({
  stream,
  type,
  data,
  version,
  position,
}: Change): WebhookChange | undefined =>
  // The change stream has validated the data by the definition of the type.
  stream.startsWith('webhook-') && isOfWebhook(type) && 'webhookId' in data
    ? ({ type, data, version, position } as unknown as WebhookChange)
    : undefined;

/** The webhook after a change; undefined if it was unknown before. */
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
      ...sentBy(payload),
      isOrdered,
      limits,
    },
    scopes: scopes instanceof Set ? scopes : new Set(scopes),
  };
};

/** The known part of its state. */
const stateOf = ({
  webhookId: id,
  ownerId: owner,
  status,
  payload,
  format,
  isOrdered: ordered,
  ...fields
}: PlannedEndpoint): AggregateState => ({
  status: 'present',
  fields: {
    ...{ ...fields, id, owner, ordered, enabled: status === 'enabled' },
    payload: recordedAs({ payload, format }),
  },
  lostUploads: '',
});
