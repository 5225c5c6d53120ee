import * as z from 'zod';
import { JsonPatch } from '#kernel/base/json-patch.ts';
import { atOfList, ItemAt } from '#kernel/base/rest/at.ts';
import { unheeded, Written, written } from '#kernel/base/rest/fields.ts';
import { idParameter, PAGE, sortBy } from '#kernel/base/rest/lists.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { webhookFormsOf } from '#shared/commands/webhook.ts';
import { webhookOf } from './webhook.ts';
import { Withheld } from './withheld.ts';

/** The one response that shows a secret; a repeated request with the same idempotency key shows it again. */
const WrittenWithSecret = Written.extend({
  secret: z.string().meta({
    description: 'The secret to verify requests with (Standard Webhooks). It is not shown again.',
    examples: ['whsec_bm90IGEgcmVhbCBvbmU='],
  }),
}).meta({ id: 'WrittenWithSecret' });

const WrittenWebhook = WrittenWithSecret.extend({
  withheld: z.array(Withheld).exactOptional().meta({
    description: 'Event types of `eventTypes` that are not sent, and why. Filters are not considered.',
  }),
}).meta({ id: 'WrittenWebhook' });

const Webhooks = z.strictObject({
  ...PAGE,
  owner: idParameter.optional().meta({ description: 'Only webhooks of this user.' }),
  enabled: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      type: 'boolean',
      enum: undefined,
      description: 'Only enabled webhooks (`true`), or only disabled ones (`false`).',
    }),
  sort: sortBy('-createdAt', 'createdAt'),
  at: atOfList,
});

const item = { path: '/webhooks/{webhookId}' } as const;
const own = { right: 'webhook.manage' } as const;

/** The request bodies for webhooks of the domain. */
export const webhookBodies = (domain: Domain) => {
  const { RegisterWebhook, ReplaceWebhook, EditWebhook } = webhookFormsOf(domain);
  const { type: _, webhookId: __, ...content } = ReplaceWebhook.shape;
  const Content = z.object(content);
  const readOnly = Object.fromEntries(
    Object.keys(webhookOf(domain).shape).flatMap((name) => (name in content ? [] : [[name, unheeded]])),
  );
  const NewWebhook = RegisterWebhook.omit({ type: true }).meta({ id: 'NewWebhook' });

  /** All fields that can be changed; read-only ones may be left in it. */
  const WebhookReplacement = z
    .strictObject({ ...content, ...readOnly })
    // Checked already: only the read-only fields are dropped.
    .transform((whole) => Content.parse(whole))
    .meta({
      id: 'WebhookReplacement',
      description:
        'The whole webhook. Every field that can be changed must be present: `null` removes the description, `{}` the filter or the headers. A header with the value `********` keeps its value.',
    });

  const WebhookPatch = EditWebhook.omit({ type: true, webhookId: true }).meta({ id: 'WebhookPatch' });
  return { NewWebhook, WebhookReplacement, WebhookPatch };
};

const ACTIONS = {
  deleteWebhook: {
    ...item,
    ...own,
    method: 'DELETE',
    role: 'command',
    summary: 'Delete a webhook with its waiting deliveries',
    answer: { status: 204, description: 'The webhook was deleted.', kind: 'nothing' },
  },
  rotateWebhookSecret: {
    ...own,
    method: 'POST',
    path: '/webhooks/{webhookId}/rotate-secret',
    role: 'command',
    summary: 'Create a new secret; for 24 hours requests are signed with the former secret as well',
    refusals: ['too_many_secrets'],
    answer: { ...written('The webhook has a new secret.'), schema: WrittenWithSecret },
  },
  enableWebhook: {
    ...own,
    method: 'POST',
    path: '/webhooks/{webhookId}/enable',
    role: 'command',
    summary: 'Enable a webhook',
    answer: written('The webhook is enabled.', 'getWebhook'),
  },
  disableWebhook: {
    ...own,
    method: 'POST',
    path: '/webhooks/{webhookId}/disable',
    role: 'command',
    summary: 'Disable a webhook',
    answer: written('The webhook is disabled.', 'getWebhook'),
  },
} as const satisfies Record<string, RestOperation>;

export const webhookOperations = (domain: Domain) => {
  const Webhook = webhookOf(domain);
  const { NewWebhook, WebhookReplacement, WebhookPatch } = webhookBodies(domain);
  return {
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
      summary: 'Register a webhook',
      body: { 'application/json': NewWebhook },
      refusals: ['user_not_found', 'user_deleted', 'quota_exceeded'],
      answer: {
        status: 201,
        description: 'The webhook was registered.',
        kind: 'written',
        schema: WrittenWebhook,
      },
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
      summary: 'Replace all changeable fields of a webhook',
      body: { 'application/json': WebhookReplacement },
      refusals: ['user_deleted'],
      answer: written('The webhook was replaced.', 'getWebhook'),
    },
    editWebhook: {
      ...item,
      ...own,
      method: 'PATCH',
      role: 'command',
      summary: 'Change a webhook',
      body: {
        'application/merge-patch+json': WebhookPatch,
        'application/json-patch+json': JsonPatch,
        'application/json': WebhookPatch,
      },
      refusals: ['user_deleted'],
      answer: written('The webhook was changed.', 'getWebhook'),
    },
    ...ACTIONS,
  } as const satisfies Record<string, RestOperation>;
};
