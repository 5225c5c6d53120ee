import * as z from 'zod';
import { timestamp } from '#kernel/declare/values.ts';
import { JsonPatch } from '#shared/commands/json-patch.ts';
import { EditWebhook, HIDDEN_VALUE, RegisterWebhook, ReplaceWebhook } from '#shared/commands/webhook.ts';
import { disabledReason, TOLD_SCOPES } from '#shared/events/webhook.ts';
import { atOfList, ItemAt } from './at.ts';
import { createdAt, id, Links, unheeded, updatedAt, Written, written } from './fields.ts';
import { idParameter, PAGE, sortBy } from './lists.ts';
import type { RestOperation } from './operation.ts';

/** Counting goes so far, so that it costs the same however many there are. */
export const BACKLOG_COUNTED_MAX = 10_000;

export const WebhookHealth = z
  .strictObject({
    lastSuccessAt: timestamp.nullable().meta({ description: 'When a delivery last arrived, to the second.' }),
    lastFailure: z
      .strictObject({
        at: timestamp,
        status: z.int().nullable().meta({ description: 'Of the answer, if there was one.' }),
        reason: z.string().meta({ description: 'What went wrong, in words.', examples: ['The connection was refused.'] }),
      })
      .nullable()
      .meta({ description: 'The last attempt that failed.' }),
    failingSince: timestamp.nullable().meta({ description: 'Since when every attempt failed; null if the last one arrived.' }),
    failuresInRow: z.int().nonnegative(),
    pausedUntil: timestamp.nullable().meta({
      description:
        'Nothing is sent before: too many attempts failed, the receiver asked for a pause, or an ordered delivery waits for its next attempt.',
    }),
    backlog: z.strictObject({
      due: z
        .int()
        .nonnegative()
        .meta({ description: `How many deliveries wait; counted up to ${BACKLOG_COUNTED_MAX}.` }),
      oldestAt: timestamp.nullable().meta({ description: 'When the oldest of them was planned.' }),
      dead: z
        .int()
        .nonnegative()
        .meta({ description: `How many were given up after their last attempt; counted up to ${BACKLOG_COUNTED_MAX}.` }),
    }),
  })
  .meta({ id: 'WebhookHealth' });
export type WebhookHealth = Readonly<z.infer<typeof WebhookHealth>>;

const Withheld = z
  .strictObject({
    eventType: z.string().meta({ description: 'As `eventTypes` has it.', examples: ['article.*'] }),
    scope: z
      .enum(TOLD_SCOPES)
      .exactOptional()
      .meta({ description: 'The scope that is missing; absent where it is the role of the owner.' }),
    reason: z.string().meta({ description: 'What is not sent, and why, in words.' }),
  })
  .meta({ id: 'WebhookWithheld' });
export type Withheld = Readonly<z.infer<typeof Withheld>>;

export const Webhook = z
  .strictObject({
    id,
    ownerId: id.meta({ readOnly: true, description: 'The user whose it is, and whose rights decide what is sent.', examples: [1001] }),
    url: z.string().meta({ description: 'Where changes are sent to, by POST.' }),
    description: z.string().nullable(),
    eventTypes: z.array(z.string()).meta({ description: 'Types of `/event-types`, or all of a kind (`article.*`), or all (`*`).' }),
    filter: z
      .strictObject({ articleId: id.exactOptional(), authorId: id.exactOptional() })
      .meta({ description: 'Only what happened to this article and its comments, or to articles and comments of this author.' }),
    payload: z.enum(['thin', 'full']).meta({ description: 'Whether the data holds ids alone, or what the owner may read.' }),
    ordered: z.boolean().meta({ description: 'Whether each change waits until the one before it has arrived.' }),
    limits: z.strictObject({ ratePerSecond: z.int(), concurrency: z.int() }),
    headers: z.record(z.string(), z.literal(HIDDEN_VALUE)).meta({ description: 'Sent along; their values are never shown.' }),
    scopes: z.array(z.enum(TOLD_SCOPES)).meta({
      readOnly: true,
      description: 'Those of the token that last decided what goes where: it is told no more than could be read by it.',
    }),
    enabled: z.boolean().meta({ readOnly: true }),
    status: z.enum(['enabled', 'disabled']).meta({ readOnly: true }),
    disabledReason: disabledReason
      .exactOptional()
      .meta({ readOnly: true, description: 'Who or what has disabled it: nothing but failures for days, or an answer of 410.' }),
    missedSince: z
      .string()
      .exactOptional()
      .meta({ readOnly: true, description: 'The cursor since which changes were not planned, until they are replayed from there.' }),
    secretsEndAt: timestamp
      .exactOptional()
      .meta({ readOnly: true, description: 'Until then the secrets before the current one sign beside it.' }),
    withheld: z.array(Withheld).exactOptional().meta({
      readOnly: true,
      description: 'What of `eventTypes` is not sent, and why; only of one webhook as it is now. Filters are not considered.',
    }),
    health: WebhookHealth.exactOptional().meta({
      readOnly: true,
      description: 'How its deliveries go; only of one webhook as it is now, once a dispatcher has met it.',
    }),
    createdAt,
    updatedAt,
    _links: Links,
  })
  .meta({ id: 'Webhook' });
export type Webhook = Readonly<z.infer<typeof Webhook>>;

export const NewWebhook = RegisterWebhook.omit({ type: true }).meta({ id: 'NewWebhook' });

const { url, description, eventTypes, filter, payload, ordered, limits, headers } = ReplaceWebhook.shape;

/** The whole of what can be changed; what cannot be may be left in it. */
const WebhookReplacement = z
  .strictObject({
    url,
    description,
    eventTypes,
    filter,
    payload,
    ordered,
    limits,
    headers,
    id: unheeded,
    ownerId: unheeded,
    scopes: unheeded,
    enabled: unheeded,
    status: unheeded,
    disabledReason: unheeded,
    missedSince: unheeded,
    secretsEndAt: unheeded,
    withheld: unheeded,
    health: unheeded,
    createdAt: unheeded,
    updatedAt: unheeded,
    _links: unheeded,
  })
  .transform((whole) => ({
    url: whole.url,
    description: whole.description,
    eventTypes: whole.eventTypes,
    filter: whole.filter,
    payload: whole.payload,
    ordered: whole.ordered,
    limits: whole.limits,
    headers: whole.headers,
  }))
  .meta({
    id: 'WebhookReplacement',
    description:
      'The whole webhook. Every field that can be changed must be there: `null` removes the description, `{}` the filter or the headers. A header whose value is the hidden one keeps its value.',
  });

export const WebhookPatch = EditWebhook.omit({ type: true, webhookId: true }).meta({ id: 'WebhookPatch' });

/** The one answer that shows a secret, and shows it again to whoever repeats the request by its idempotency key. */
const WrittenWithSecret = Written.extend({
  secret: z.string().meta({
    description: 'By which to verify callbacks (Standard Webhooks). It is not shown again.',
    examples: ['whsec_bm90IGEgcmVhbCBvbmU='],
  }),
}).meta({ id: 'WrittenWithSecret' });

const Webhooks = z.strictObject({
  ...PAGE,
  owner: idParameter.optional().meta({ description: 'Only those of this user.' }),
  enabled: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ type: 'boolean', enum: undefined, description: 'Only those that are enabled, or only those that are not.' }),
  sort: sortBy('-createdAt', 'createdAt'),
  at: atOfList,
});

const item = { path: '/webhooks/{webhookId}' } as const;
const own = { right: 'webhook.manage' } as const;

export const WEBHOOK_OPERATIONS = {
  listWebhooks: {
    ...own,
    method: 'GET',
    path: '/webhooks',
    role: 'query',
    summary: 'Your webhooks',
    query: Webhooks,
    answer: { status: 200, description: 'A page of webhooks.', kind: 'list', schema: Webhook },
  },
  createWebhook: {
    ...own,
    method: 'POST',
    path: '/webhooks',
    role: 'command',
    summary: 'Register an address that changes are sent to',
    body: { 'application/json': NewWebhook },
    answer: { status: 201, description: 'The webhook was registered.', kind: 'written', schema: WrittenWithSecret },
  },
  getWebhook: {
    ...item,
    ...own,
    method: 'GET',
    role: 'query',
    summary: 'A webhook',
    query: ItemAt,
    answer: { status: 200, description: 'The webhook.', kind: 'item', schema: Webhook },
  },
  replaceWebhook: {
    ...item,
    ...own,
    method: 'PUT',
    role: 'command',
    summary: 'Replace what can be changed of a webhook',
    body: { 'application/json': WebhookReplacement },
    answer: written('The webhook is as it was sent.', 'getWebhook'),
  },
  editWebhook: {
    ...item,
    ...own,
    method: 'PATCH',
    role: 'command',
    summary: 'Change a webhook',
    body: { 'application/merge-patch+json': WebhookPatch, 'application/json-patch+json': JsonPatch, 'application/json': WebhookPatch },
    answer: written('The webhook was changed.', 'getWebhook'),
  },
  deleteWebhook: {
    ...item,
    ...own,
    method: 'DELETE',
    role: 'command',
    summary: 'Delete a webhook; what was not yet delivered is dropped',
    answer: { status: 204, description: 'The webhook is gone.', kind: 'nothing' },
  },
  rotateWebhookSecret: {
    ...own,
    method: 'POST',
    path: '/webhooks/{webhookId}/rotate-secret',
    role: 'command',
    summary: 'Give a webhook a new secret; the one before signs beside it for 24 hours',
    answer: { ...written('The webhook has a new secret.'), schema: WrittenWithSecret },
  },
  enableWebhook: {
    ...own,
    method: 'POST',
    path: '/webhooks/{webhookId}/enable',
    role: 'command',
    summary: 'Have changes sent again',
    answer: written('The webhook is enabled.', 'getWebhook'),
  },
  disableWebhook: {
    ...own,
    method: 'POST',
    path: '/webhooks/{webhookId}/disable',
    role: 'command',
    summary: 'Have no changes sent until it is enabled',
    answer: written('The webhook is disabled.', 'getWebhook'),
  },
} as const satisfies Record<string, RestOperation>;
