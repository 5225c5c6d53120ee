import { parseInput } from '#shared/http/parse-input.ts';
import { DeliverySearch } from '#shared/rest/deliveries.ts';
import { representFound } from '#shared/webhooks/representation.ts';
import { type FoundRow, foundKey, searchDeliveries } from '#shared/webhooks/search.ts';
import type { Resolver } from './context.ts';
import { readKeyedConnection } from './keyed-connection.ts';

type Filter = Readonly<Record<string, unknown>>;

/** Deliveries to all webhooks that the caller may manage, like `GET /deliveries`. */
export const foundDeliveries: Resolver = (_query, args, { pool, caller, eventLog }) => {
  const filter = filterOf((args.filter ?? {}) as Filter);
  return readKeyedConnection<FoundRow, string>(args, {
    name: 'deliveries',
    kindOfKey: 'string',
    read: (stretch) => searchDeliveries(pool, { caller, filter }, stretch),
    keyOf: foundKey,
    represent: (row) => representFound(row, eventLog),
  });
};

/** Makes the checks of REST, because the schema of GraphQL validates neither event ids nor names of items. */
const filterOf = ({ webhook, ...given }: Filter): DeliverySearch => {
  const named = Object.entries({ ...given, webhookId: webhook }).filter(
    ([, value]) => (value ?? null) !== null,
  );
  return parseInput(DeliverySearch, Object.fromEntries(named));
};
