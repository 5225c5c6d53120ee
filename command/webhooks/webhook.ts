import type { StreamName, UserId, WebhookId } from '#shared/brands.ts';
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
import { streamName } from '#shared/events/streams.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Decider } from '../decider.ts';
import { changesTo, contentOf, decidesWhatGoesWhere, merged, withValues } from './content.ts';
import { type Disabled, disable, type Replay, replay } from './missed.ts';
import { OLD_SECRETS_MAX, rotate } from './secrets.ts';
import type { PresentWebhook, WebhookEvent, WebhookState } from './state.ts';

export const webhookStream = (id: WebhookId): StreamName => streamName('webhook', id);

export type WebhookCommand =
  | (RegisterWebhook & { readonly webhookId: WebhookId; readonly ownerId: UserId; readonly secret: string; readonly scopes: Scopes })
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
/** What the caller may read; nothing where that is no user, who leaves it as it is. */
type Deciding = { readonly scopes: Scopes | undefined };

export const webhook: Decider<WebhookState, WebhookCommand, WebhookEvent> = {
  initial: { status: 'absent' },

  decide(command, state) {
    if (command.type === 'RegisterWebhook') return register(command, state);
    if (command.type === 'DeleteWebhook' && state.status === 'deleted') return [];
    const present = demandPresent(state);
    const mark = { webhookId: command.webhookId, ownerId: present.ownerId };
    switch (command.type) {
      case 'ReplaceWebhook':
      case 'EditWebhook': {
        const before = contentOf(present);
        const changes = changesTo(before, command.type === 'EditWebhook' ? merged(before, command) : command);
        if (Object.keys(changes).length === 0) return [];
        const told = command.scopes && decidesWhatGoesWhere(changes) ? { scopes: command.scopes } : {};
        return [{ type: 'webhook.changed', data: { ...mark, ...changes, ...told } }];
      }
      case 'RotateWebhookSecret':
        return rotate(mark, command, present);
      case 'EnableWebhook':
        return present.status === 'enabled'
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

  evolve(state, event) {
    if (event.type === 'webhook.registered') {
      const { webhookId: _, enabled, ...registered } = event.data;
      const status = enabled
        ? ({ status: 'enabled', disabledReason: null } as const)
        : ({ status: 'disabled', disabledReason: 'owner' } as const);
      return { ...registered, ...status, oldSecretsEnd: [], missed: null, requestId: null };
    }
    if (state.status === 'absent' || state.status === 'deleted') return state;
    switch (event.type) {
      case 'webhook.changed': {
        const { webhookId: _, ownerId: __, ...changes } = event.data;
        return { ...state, ...changes };
      }
      case 'webhook.secret_rotated': {
        const { secret, oldSecretsEndAt } = event.data;
        return { ...state, secret, oldSecretsEnd: [...state.oldSecretsEnd, oldSecretsEndAt].slice(-OLD_SECRETS_MAX) };
      }
      case 'webhook.enabled':
        return { ...state, status: 'enabled', disabledReason: null, scopes: event.data.scopes };
      case 'webhook.disabled':
        return { ...state, status: 'disabled', disabledReason: event.data.reason, missed: event.data.missed };
      case 'webhook.deleted':
        return { status: 'deleted', ownerId: state.ownerId };
      case 'webhook.test_requested':
        return { ...state, requestId: event.data.testId };
      case 'webhook.replay_requested':
        return { ...state, requestId: event.data.replayId, missed: event.data.missed };
      case 'webhook.redelivery_requested':
        return { ...state, requestId: event.data.redeliveryId };
      case 'webhook.redrive_requested':
        return { ...state, requestId: event.data.redriveId };
    }
  },
};

const demandPresent = (state: WebhookState): PresentWebhook => {
  switch (state.status) {
    case 'absent':
      throw new Rejection('webhook_not_found');
    case 'deleted':
      throw new Rejection('webhook_deleted');
    case 'enabled':
    case 'disabled':
      return state;
  }
};

const register = (command: Extract<WebhookCommand, { type: 'RegisterWebhook' }>, state: WebhookState): readonly WebhookEvent[] => {
  if (state.status !== 'absent') throw new Rejection('id_taken');
  const { type: _, ...data } = command;
  return [{ type: 'webhook.registered', data: { ...data, headers: withValues({}, data.headers) } }];
};

type Mark = EventOf<'webhook.deleted'>['data'];
type Requested = Extract<WebhookCommand, { requestId: string }>;

/** The dispatcher carries it out, where it sends anything at all. */
const request = (mark: Mark, command: Requested, state: PresentWebhook): readonly WebhookEvent[] => {
  const { requestId } = command;
  if (state.requestId === requestId) return [];
  if (state.status === 'disabled') throw new Rejection('webhook_disabled');
  switch (command.type) {
    case 'TestWebhook':
      return [{ type: 'webhook.test_requested', data: { ...mark, testId: requestId } }];
    case 'ReplayWebhook':
      return [{ type: 'webhook.replay_requested', data: { ...mark, replayId: requestId, ...replay(command, state.missed) } }];
    case 'RedeliverDelivery':
      return [{ type: 'webhook.redelivery_requested', data: { ...mark, redeliveryId: requestId, deliveryId: command.deliveryId } }];
    case 'RedriveWebhook':
      return [{ type: 'webhook.redrive_requested', data: { ...mark, redriveId: requestId } }];
  }
};
