import type { Domain } from '#kernel/registry/registry.ts';
import { type EditWebhook, HIDDEN_VALUE, type PatchWebhook, type ReplaceWebhook, webhookFormsOf } from '#shared/commands/webhook.ts';
import { changesByPatch } from '../patch-content.ts';
import { contentOf } from './content.ts';
import type { WebhookState } from './state.ts';

const UNKNOWN = ['/missedSince', '/secretsEndAt', '/createdAt', '/updatedAt', '/_links'] as const;

/** The replacement that a JSON patch comes to. Where there is nothing to patch it changes nothing, and the decider says why. */
export const replacementByPatch = (
  domain: Domain,
  { webhookId, patch }: PatchWebhook,
  state: WebhookState,
): ReplaceWebhook | EditWebhook => {
  if (state.status === 'absent' || state.status === 'deleted') return { type: 'EditWebhook', webhookId };
  const { status, disabledReason, ownerId, scopes } = state;
  const { headers, ...shown } = contentOf(state);
  const content = { ...shown, headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN_VALUE])) };
  const reason = disabledReason !== null && { disabledReason };
  const fixed = { id: webhookId, ownerId, scopes, enabled: status === 'enabled', status, ...reason };
  const { WebhookContent } = webhookFormsOf(domain);
  return { type: 'ReplaceWebhook', webhookId, ...content, ...changesByPatch(WebhookContent, { content, fixed, unknown: UNKNOWN }, patch) };
};
