import * as z from 'zod';
import { parseInput } from '#edge/http/parse-input.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { DeliverySearch } from '#shared/rest/deliveries.ts';
import { representFound } from '#shared/webhooks/representation.ts';
import { type FoundRow, foundKey, searchDeliveries } from '#shared/webhooks/search.ts';
import type { Resolver } from './context.ts';
import { readKeyedConnection } from './keyed-connection.ts';
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

type Filter = Readonly<Record<string, unknown>>;

/** Deliveries to all webhooks that the caller may manage, like `GET /deliveries`. */
const foundDeliveries: Resolver = (_query, args, { pool, caller, eventLog }) => {
  const filter = filterOf((args.filter ?? {}) as Filter);
  return readKeyedConnection<FoundRow, string>(args, {
    name: 'deliveries',
    kindOfKey: 'string',
    read: (stretch) => searchDeliveries(pool, { caller, filter }, stretch),
    keyOf: foundKey,
    represent: (row) => representFound(row, { eventLog }),
  });
};

/** The fields of REST; `webhookId` has another name here, which errors point to. */
const { webhookId, ...others } = DeliverySearch.shape;
const Search = z.strictObject({ webhook: webhookId, ...others });

/** Makes the checks of REST, because the schema of GraphQL validates neither event ids nor names of items. */
const filterOf = (filter: Filter): DeliverySearch => {
  const given = Object.entries(filter).filter(([, value]) => (value ?? null) !== null);
  const { webhook, ...rest } = parseInput(Search, Object.fromEntries(given));
  return { ...rest, webhookId: webhook };
};
