import type { Domain } from '#kernel/registry/registry.ts';
import { DELIVERY_OPERATIONS } from './deliveries.ts';
import { webhookOperations } from './webhooks.ts';

/** The operations on webhooks and their deliveries. */
export const operationsOfWebhooks = (domain: Domain) => ({
  ...webhookOperations(domain),
  ...DELIVERY_OPERATIONS,
});
