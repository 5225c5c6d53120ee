import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { filterColumnsOf, sentBy } from '#kernel/webhook/webhook-fields.ts';
import type { Attempt, DeliveryFilter } from '#shared/rest/deliveries.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import { roleAndAttributesOf } from '#shared/role-and-attributes.ts';
import {
  type AttemptRow,
  attemptKey,
  type DeliveryRow,
  deliveryKey,
  findDelivery,
  findReplay,
  listAttemptsOfMany,
  listDeliveriesOfMany,
  listReplaysOfMany,
  type ReplayRow,
  replayKey,
} from '#shared/webhooks/deliveries.ts';
import { readHealthOfMany } from '#shared/webhooks/health.ts';
import { representAttempt, representDelivery, representReplay } from '#shared/webhooks/representation.ts';
import { withheldOf } from '#shared/webhooks/withheld.ts';
import { missedSince } from '../../history/missed-since.ts';
import type { Context, Resolver } from './context.ts';
import { currentOnly } from './histories.ts';
import { orUnavailable, readKeyedConnection } from './keyed-connection.ts';
import { type Listed, readConnection, readPlainList } from './lists.ts';
import { common, dated, demandRow, listed } from './reads.ts';
import type { Row, WebhookRow } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;

const webhookOf = (domain: Domain): Readonly<Record<string, Resolver>> => ({
  ...common,
  ...dated,
  ...settingsOf(domain),
  ...DELIVERIES,
  ...REPLAYS,
  missedSince: (webhook: WebhookRow, _args, { eventLog }) => missedSince(webhook, eventLog.identity),
  withheld: currentOnly(async ({ owner_id, event_types, scopes }: WebhookRow, _args, { domain, loaders }) => {
    const owner = await loaders.find('User', owner_id);
    if (!owner || owner.deleted_at !== null) return null;
    return withheldOf(domain, { eventTypes: event_types, scopes }, roleAndAttributesOf(domain, owner));
  }),
  health: currentOnly(
    async (webhook: WebhookRow, _args, { pool, loaders }) =>
      (await orUnavailable(
        loaders.together('health', idOf(webhook), (ids: readonly WebhookId[]) => readHealthOfMany(pool, ids)),
      )) ?? null,
  ),
});

const settingsOf = (domain: Domain): Readonly<Record<string, Resolver>> => ({
  owner: ({ owner_id }: WebhookRow, _args, context) => demandRow(context, 'User', owner_id),
  url: ({ url }: WebhookRow) => url,
  description: ({ description }: WebhookRow) => description,
  eventTypes: ({ event_types }: WebhookRow) => event_types,
  ...Object.fromEntries(filterColumnsOf(domain).map(([column, name]) => [name, (row: Row) => row[column]])),
  payload: ({ payload }: WebhookRow) => sentBy(payload).payload,
  format: ({ payload }: WebhookRow) => sentBy(payload).format,
  ordered: ({ is_ordered }: WebhookRow) => is_ordered,
  ratePerSecond: ({ rate_per_second }: WebhookRow) => rate_per_second,
  concurrency: ({ concurrency }: WebhookRow) => concurrency,
  headerNames: ({ header_names }: WebhookRow) => header_names,
  scopes: ({ scopes }: WebhookRow) => scopes,
  enabled: ({ is_enabled }: WebhookRow) => is_enabled,
  disabledReason: ({ disabled_reason }: WebhookRow) => disabled_reason,
  secretsEndAt: ({ old_secrets_end_at }: WebhookRow) => old_secrets_end_at?.toISOString() ?? null,
});

const DELIVERIES: Readonly<Record<string, Resolver>> = {
  delivery: currentOnly(async (webhook: WebhookRow, { id }, context) => {
    const eventId = pathEventId(String(id));
    const row = eventId && (await orUnavailable(findDelivery(context.pool, idOf(webhook), eventId)));
    return row ? deliveryOf(row, context) : null;
  }),
  deliveriesConnection: currentOnly((webhook: WebhookRow, args, context) =>
    readKeyedConnection<DeliveryRow, number>(args, {
      name: `deliveries of ${webhook.id}`,
      kindOfKey: 'number',
      read: async (stretch) => {
        const asked = { filter: filterOf(args), stretch };
        const load = (webhookIds: readonly WebhookId[]) =>
          listDeliveriesOfMany(context.pool, { ...asked, webhookIds }, stretch);
        return (
          (await context.loaders.together(JSON.stringify(['deliveries', asked]), idOf(webhook), load)) ?? []
        );
      },
      keyOf: deliveryKey,
      represent: (row) => deliveryOf(row, context),
    }),
  ),
};

const REPLAYS: Readonly<Record<string, Resolver>> = {
  replay: currentOnly(async (webhook: WebhookRow, { id }, context) => {
    const replayId = pathEventId(String(id));
    const row = replayId && (await orUnavailable(findReplay(context.pool, idOf(webhook), replayId)));
    return row ? representReplay(row, context) : null;
  }),
  replaysConnection: currentOnly((webhook: WebhookRow, args, context) =>
    readKeyedConnection<ReplayRow, string>(args, {
      name: `replays of ${webhook.id}`,
      kindOfKey: 'string',
      read: async (stretch) => {
        const load = (webhookIds: readonly WebhookId[]) =>
          listReplaysOfMany(context.pool, webhookIds, stretch);
        return (
          (await context.loaders.together(JSON.stringify(['replays', stretch]), idOf(webhook), load)) ?? []
        );
      },
      keyOf: replayKey,
      represent: (row) => representReplay(row, context),
    }),
  ),
};

const idOf = ({ id }: WebhookRow): WebhookId => id as WebhookId;

/** No field shows the links of a delivery, so `isEnabled` does not matter. */
const deliveryOf = (row: DeliveryRow, { eventLog }: Context): Delivery =>
  representDelivery(row, { eventLog, isEnabled: true });

const filterOf = ({ filter }: Arguments): DeliveryFilter => {
  const given = Object.entries((filter ?? {}) as Arguments).filter(([, value]) => value !== null);
  // The schema of GraphQL has validated it.
  return Object.fromEntries(given) as DeliveryFilter;
};

const DELIVERY: Readonly<Record<string, Resolver>> = {
  webhook: async ({ webhookId }: Delivery, _args, { loaders }) =>
    (await loaders.find('Webhook', webhookId)) ?? null,
  attemptsConnection: ({ id, webhookId }: Delivery, args, { pool, loaders }) =>
    readKeyedConnection<AttemptRow, number>(args, {
      name: `attempts of ${webhookId} ${id}`,
      kindOfKey: 'number',
      read: async (stretch) => {
        const load = (eventIds: readonly EventId[]) =>
          listAttemptsOfMany(pool, { webhookId: webhookId as WebhookId, eventIds }, stretch);
        return (
          (await loaders.together(JSON.stringify(['attempts', webhookId, stretch]), id as EventId, load)) ??
          []
        );
      },
      keyOf: attemptKey,
      represent: representAttempt,
    }),
};

const headersOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

const ATTEMPT: Readonly<Record<string, Resolver>> = {
  requestHeaders: ({ requestHeaders }: Attempt) => headersOf(requestHeaders),
};

const ANSWER: Readonly<Record<string, Resolver>> = {
  headers: ({ headers }: NonNullable<Attempt['answer']>) => headersOf(headers),
};

const webhooksOf = ({ id }: Row): Listed => ({ type: 'Webhook', parent: 'owner_id', parentId: id });

/** The webhooks of a user. */
export const WEBHOOKS_OF_USER: Readonly<Record<string, Resolver>> = {
  webhooks: listed(webhooksOf, readPlainList),
  webhooksConnection: listed(webhooksOf, readConnection),
};

export const webhookResolvers = (
  domain: Domain,
): Readonly<Record<string, Readonly<Record<string, Resolver>>>> => ({
  Webhook: webhookOf(domain),
  Delivery: DELIVERY,
  DeliveryAttempt: ATTEMPT,
  DeliveryAnswer: ANSWER,
});
