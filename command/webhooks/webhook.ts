import type { StreamName, UserId, WebhookId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { evolveWebhook } from '#kernel/decide/evolve-webhook.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import { presentIn, type Webhook, type WebhookEvent } from '#kernel/webhook/webhook.ts';
import { FORMAT_DEFAULT, recordedAs } from '#kernel/webhook/webhook-fields.ts';
import type {
  DeleteWebhook,
  DisableWebhook,
  EditWebhook,
  EnableWebhook,
  RedeliverDelivery,
  RedriveWebhook,
  RegisterWebhook,
  ReplaceWebhook,
  RotateWebhookSecret,
  TestWebhook,
} from '#shared/commands/webhook.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { Decider } from '../decider.ts';
import {
  changesTo,
  contentOf,
  decidesWhatGoesWhere,
  merged,
  recordedChanges,
  withValues,
} from './content.ts';
import { type Disabled, disable, type Replay, replay } from './missed.ts';
import { rotate } from './secrets.ts';

export const webhookStream = (id: WebhookId): StreamName => streamName('webhook', id);

export type WebhookCommand =
  | (RegisterWebhook & {
      readonly webhookId: WebhookId;
      readonly ownerId: UserId;
      readonly secret: string;
      readonly scopes: Scopes;
    })
  | (ReplaceWebhook & Deciding)
  | (EditWebhook & Deciding)
  | (RotateWebhookSecret & { readonly secret: string; readonly at: string })
  | (EnableWebhook & Deciding)
  | (DisableWebhook & Disabled)
  | DeleteWebhook
  | (TestWebhook & Request)
  | ({ readonly type: 'ReplayWebhook'; readonly webhookId: WebhookId } & Replay & Request)
  | (RedeliverDelivery & Request)
  | (RedriveWebhook & Request);

type Request = { readonly requestId: string };
type Scopes = readonly string[];
/** The scopes that the caller may read; undefined if the caller is no user, which leaves them unchanged. */
type Deciding = { readonly scopes: Scopes | undefined };

export const webhook: Decider<AggregateState, WebhookCommand, WebhookEvent> = {
  initial: ABSENT,

  decide(command, state) {
    if (command.type === 'RegisterWebhook') return register(command, state);
    if (command.type === 'DeleteWebhook' && state.status === 'ended') return [];
    const present = demandPresent(state);
    const mark = { webhookId: command.webhookId, ownerId: present.owner };
    switch (command.type) {
      case 'ReplaceWebhook':
      case 'EditWebhook': {
        const before = contentOf(present);
        const after =
          command.type === 'EditWebhook'
            ? merged(before, command)
            : { ...command, format: command.format ?? before.format };
        const changes = changesTo(before, after);
        if (Object.keys(changes).length === 0) return [];
        const scopes = command.scopes && decidesWhatGoesWhere(changes) ? { scopes: command.scopes } : {};
        return [
          { type: 'webhook.changed', data: { ...mark, ...recordedChanges(changes, after), ...scopes } },
        ];
      }
      case 'RotateWebhookSecret':
        return rotate(mark, command, present);
      case 'EnableWebhook':
        return present.enabled
          ? []
          : [{ type: 'webhook.enabled', data: { ...mark, scopes: command.scopes ?? present.scopes } }];
      case 'DisableWebhook':
        return disable(mark, command, present);
      case 'DeleteWebhook':
        return [{ type: 'webhook.deleted', data: mark }];
      case 'TestWebhook':
      case 'ReplayWebhook':
      case 'RedeliverDelivery':
      case 'RedriveWebhook':
        return request(mark, command, present);
    }
  },

  evolve: evolveWebhook,
};

const demandPresent = (state: AggregateState): Webhook => {
  const present = presentIn(state);
  if (!present) throw new Rejection(state.status === 'absent' ? 'webhook_not_found' : 'webhook_deleted');
  return present;
};

const register = (
  command: Extract<WebhookCommand, { type: 'RegisterWebhook' }>,
  state: AggregateState,
): readonly WebhookEvent[] => {
  if (state.status !== 'absent') throw new Rejection('id_taken');
  const { type: _, format = FORMAT_DEFAULT, ...data } = command;
  const payload = recordedAs({ payload: data.payload, format });
  const headers = withValues({}, data.headers);
  return [{ type: 'webhook.registered', data: { ...data, payload, headers } }];
};

type Mark = EventOf<'webhook.deleted'>['data'];
type Requested = Extract<WebhookCommand, { requestId: string }>;

/** The dispatcher executes the request while the webhook is enabled. */
const request = (mark: Mark, command: Requested, state: Webhook): readonly WebhookEvent[] => {
  const { requestId } = command;
  if ([state.testId, state.replayId, state.redeliveryId, state.redriveId].includes(requestId)) return [];
  if (!state.enabled) throw new Rejection('webhook_disabled');
  switch (command.type) {
    case 'TestWebhook':
      return [{ type: 'webhook.test_requested', data: { ...mark, testId: requestId } }];
    case 'ReplayWebhook':
      return [
        {
          type: 'webhook.replay_requested',
          data: { ...mark, replayId: requestId, ...replay(command, state.missed) },
        },
      ];
    case 'RedeliverDelivery':
      return [
        {
          type: 'webhook.redelivery_requested',
          data: { ...mark, redeliveryId: requestId, deliveryId: command.deliveryId },
        },
      ];
    case 'RedriveWebhook':
      return [
        { type: 'webhook.redrive_requested', data: { ...mark, redriveId: requestId, ...redriven(command) } },
      ];
  }
};

const redriven = ({ since, until, retrying = false }: RedriveWebhook) => ({
  since: inUtc(since),
  until: inUtc(until),
  retrying,
});
const inUtc = (time: string | undefined): string | null =>
  time === undefined ? null : new Date(time).toISOString();
