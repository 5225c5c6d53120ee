import type { LogIdentity, Position, UserId, WebhookId } from '#kernel/base/brands.ts';
import type { WebhookEvent } from '#kernel/webhook/webhook.ts';
import type { WebhookCommand } from '../command/webhooks/webhook.ts';

/** Fixtures for tests of the decider: one webhook, its events, and its commands. */
export const webhookId = 6 as WebhookId;
export const ownerId = 1 as UserId;
export const mark = { webhookId, ownerId };
export const at = '2026-01-02T03:04:05.678Z';
export const later = (hours: number) => new Date(Date.parse(at) + hours * 3_600_000).toISOString();
const position = (value: number) => value as Position;
const LOG = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity;
/** In the log of the commands by default. */
export const logPosition = (value: number, log: LogIdentity | null = LOG) => ({
  log,
  position: position(value),
});
export const FORMER_LOG = '6f9619ff-8b86-4011-b42d-00c04fc96400' as LogIdentity;

const content = {
  url: 'https://example.com/hooks',
  description: null,
  eventTypes: ['article.*'],
  filter: {},
  payload: 'thin',
  ordered: false,
  limits: { ratePerSecond: 50, concurrency: 10 },
  headers: { 'X-Team': 'blue' },
} as const;
const scopes = ['read:articles', 'manage:webhooks'] as const;
const secretOf = (sign: string) => `whsec_${sign.repeat(32)}`;
export const registered: WebhookEvent = {
  type: 'webhook.registered',
  data: { ...mark, ...content, enabled: true, secret: secretOf('a'), scopes },
};
export const erased: WebhookEvent = {
  ...registered,
  data: { ...registered.data, url: null, description: null, headers: null, secret: null },
};
export const changed = (data: object): WebhookEvent => ({
  type: 'webhook.changed',
  data: { ...mark, ...data },
});
export const rotated = (sign: string, oldSecretsEndAt: string): WebhookEvent => ({
  type: 'webhook.secret_rotated',
  data: { ...mark, secret: secretOf(sign), oldSecretsEndAt },
});
export const enabled: WebhookEvent = { type: 'webhook.enabled', data: { ...mark, scopes } };
export const MISSED = { since: logPosition(10), at };
export const disabled = (
  reason: 'owner' | 'failing' | 'gone',
  missed: typeof MISSED | null,
): WebhookEvent => ({
  type: 'webhook.disabled',
  data: { ...mark, reason, missed },
});
export const deleted: WebhookEvent = { type: 'webhook.deleted', data: mark };

export const register = {
  type: 'RegisterWebhook',
  ...mark,
  ...content,
  enabled: true,
  secret: secretOf('a'),
  scopes,
} as const satisfies WebhookCommand;
export const replace = (changes: object): WebhookCommand => ({
  type: 'ReplaceWebhook',
  webhookId,
  ...content,
  scopes: undefined,
  ...changes,
});
export const edit = (changes: object): WebhookCommand => ({
  type: 'EditWebhook',
  webhookId,
  scopes: undefined,
  ...changes,
});
export const rotate = (sign: string, when = at): WebhookCommand => ({
  type: 'RotateWebhookSecret',
  webhookId,
  secret: secretOf(sign),
  at: when,
});
export const enable: WebhookCommand = { type: 'EnableWebhook', webhookId, scopes: undefined };
export const disable = (
  reason: 'owner' | 'failing' | 'gone',
  head = 10,
  isByOwner = reason === 'owner',
): WebhookCommand => ({
  ...{ type: 'DisableWebhook', webhookId, reason },
  ...{ log: LOG, head: position(head), at, isByOwner },
});
export const remove: WebhookCommand = { type: 'DeleteWebhook', webhookId };
export const requestId = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
export const askTest: WebhookCommand = { type: 'TestWebhook', webhookId, requestId };
export const replay = (from: number | string | undefined, to?: number): WebhookCommand => ({
  ...{ type: 'ReplayWebhook', webhookId, requestId, log: LOG, head: position(100) },
  ...{
    from: typeof from === 'number' ? position(from) : from,
    to: to === undefined ? undefined : position(to),
  },
});
export const replayed = (span: object, missed: object | null = null): WebhookEvent =>
  ({
    type: 'webhook.replay_requested',
    data: { ...mark, replayId: requestId, from: null, time: null, to: logPosition(100), ...span, missed },
  }) as WebhookEvent;
