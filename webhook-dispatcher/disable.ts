import { randomUUID } from 'node:crypto';
import type { WebhookId } from '#shared/brands.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { DisabledReason } from '#shared/events/webhook.ts';
import type { Log } from '#shared/log.ts';
import { Rejection } from '#shared/rejection.ts';

type Dependencies = { readonly gateway: CommandGateway; readonly log: Log };

/** Asks, in the name of the dispatcher, for a webhook to be disabled; where that does not succeed, its next failure asks again. */
export const createDisabler =
  ({ gateway, log }: Dependencies) =>
  async (webhookId: WebhookId, reason: DisabledReason): Promise<void> => {
    try {
      await gateway.send({ type: 'DisableWebhook', webhookId, reason }, { caller: CALLER, requestId: randomUUID() });
      log.info({ webhookId, reason }, 'A webhook was disabled.');
    } catch (err) {
      // It was deleted meanwhile, or its owner has disabled it.
      if (err instanceof Rejection) return;
      log.warn({ err, webhookId, reason }, 'A webhook could not be disabled; it is tried again.');
    }
  };

const CALLER = { kind: 'system', name: 'webhook-dispatcher' } as const;
