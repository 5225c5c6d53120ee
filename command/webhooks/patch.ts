import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { presentIn } from '#kernel/webhook/webhook.ts';
import {
  type EditWebhook,
  HIDDEN_VALUE,
  type PatchWebhook,
  type ReplaceWebhook,
  webhookFormsOf,
} from '#shared/commands/webhook.ts';
import { changesByPatch } from '../handling/patch-content.ts';
import { contentOf } from './content.ts';

const UNKNOWN = ['/missedSince', '/secretsEndAt', '/createdAt', '/updatedAt', '/_links'] as const;

/**
 * The replacement that results from a JSON patch. Without a webhook it changes nothing, and the decider gives
 * the reason.
 */
export const replacementByPatch = (
  domain: Domain,
  { webhookId, patch }: PatchWebhook,
  state: AggregateState,
): ReplaceWebhook | EditWebhook => {
  const present = presentIn(state);
  if (!present) return { type: 'EditWebhook', webhookId };
  const { enabled, reason: disabledReason, owner: ownerId, scopes } = present;
  const { headers, ...shown } = contentOf(present);
  const content = {
    ...shown,
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN_VALUE])),
  };
  const reason = disabledReason !== null && { disabledReason };
  const fixed = {
    id: webhookId,
    ownerId,
    scopes,
    enabled,
    status: enabled ? 'enabled' : 'disabled',
    ...reason,
  };
  const { WebhookContent } = webhookFormsOf(domain);
  return {
    type: 'ReplaceWebhook',
    webhookId,
    ...content,
    ...changesByPatch(WebhookContent, { content, fixed, unknown: UNKNOWN }, patch),
  };
};
