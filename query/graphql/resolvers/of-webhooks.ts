import type { Domain } from '#kernel/registry/registry.ts';
import type { Resolver } from './context.ts';
import { foundDeliveries } from './found-deliveries.ts';
import { byId, listsAt } from './reads.ts';
import { webhookMutations } from './webhook-mutations.ts';
import { WEBHOOKS_OF_USER, webhookResolvers } from './webhooks.ts';

/** The resolvers of webhooks and their deliveries, by type; those of a user are added to others. */
export const ofWebhooks = (domain: Domain): Readonly<Record<string, Readonly<Record<string, Resolver>>>> => ({
  Query: {
    webhook: byId('Webhook'),
    ...Object.fromEntries(listsAt('webhooks', 'Webhook')),
    deliveriesConnection: foundDeliveries,
  },
  Mutation: webhookMutations(domain),
  User: WEBHOOKS_OF_USER,
  ...webhookResolvers(domain),
});
