import { randomUUID } from 'node:crypto';
import type { WebhookId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { DisabledReason } from '#kernel/webhook/webhook-fields.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Log } from '#shared/log.ts';

type Dependencies = { readonly gateway: CommandGateway; readonly log: Log };

/**
 * Sends the command that disables a webhook, as the dispatcher; if it fails, the next failure of the webhook
 * repeats it.
 */
export const createDisabler =
  ({ gateway, log }: Dependencies) =>
  async (webhookId: WebhookId, reason: DisabledReason): Promise<void> => {
    try {
      await gateway.send(
        { type: 'DisableWebhook', webhookId, reason },
        { caller: CALLER, requestId: randomUUID() },
      );
      log.info({ webhookId, reason }, 'A webhook was disabled.');
    } catch (err) {
      // The webhook was deleted meanwhile, or its owner has disabled it.
      if (err instanceof Rejection) return;
      log.warn({ err, webhookId, reason }, 'A webhook could not be disabled; this is retried.');
    }
  };

const CALLER = { kind: 'system', name: 'webhook-dispatcher' } as const;
