import { createHistoryReads } from '../history/reads.ts';
import type { QueryPart } from '../part.ts';
import type { Reads } from '../rest/read-routes.ts';
import type { RepresentManaged } from '../time-travel/options.ts';
import { timeTravelOf } from '../time-travel/reads.ts';
import { createDeliveriesOf } from './deliveries-of.ts';
import { webhookReads } from './reads.ts';
import { representWebhook, type WebhookRow } from './representation.ts';

/** The reads of webhooks; the dispatcher reads their deliveries. */
export const part: QueryPart = {
  links: [{ rel: 'webhooks', href: '/webhooks', title: 'Webhooks: endpoints that receive changes' }],
  deliveriesOf: createDeliveriesOf,
  open({ domain, pool, eventLog, kinds, timeTravel: past }) {
    const { getWebhook, listWebhooks } = webhookReads({ domain, pool, identity: eventLog.identity });
    const { item, list } = timeTravelOf(
      'webhook',
      { kinds, item: getWebhook, list: listWebhooks },
      { ...past, representManaged },
    );
    const reads: Reads<'getWebhook' | 'listWebhooks' | 'listWebhookHistory'> = {
      getWebhook: item,
      listWebhooks: list,
      listWebhookHistory: createHistoryReads(past)('webhook', (reader) => getWebhook(reader, {})),
    };
    return { reads };
  },
};

const representManaged: RepresentManaged = (row, shown) =>
  representWebhook(row as unknown as WebhookRow, shown);
