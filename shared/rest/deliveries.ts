// Over 200 lines, because it is one table: the operations of owners on deliveries, with their schemas.
import * as z from 'zod';
import { EXAMPLE_CURSOR } from '#kernel/base/cursor.ts';
import { instant } from '#kernel/base/instant.ts';
import { id, Links, Written } from '#kernel/base/rest/fields.ts';
import { idParameter, PAGE } from '#kernel/base/rest/lists.ts';
import type { Answer, RestOperation } from '#kernel/base/rest/operation.ts';
import { timestamp } from '#kernel/base/values.ts';
import { RedriveWebhook, ReplayWebhook } from '#shared/commands/webhook.ts';
import { Delivery, deliveredType, deliveryState } from './delivery.ts';
import { BACKLOG_COUNTED_MAX } from './webhook.ts';

const cursor = z.string().meta({ examples: [EXAMPLE_CURSOR] });

export const FoundDelivery = Delivery.extend({
  url: z.string().meta({ description: 'The current URL of the webhook.' }),
}).meta({ id: 'FoundDelivery' });
export type FoundDelivery = Readonly<z.infer<typeof FoundDelivery>>;

const counted = z.int().nonnegative();

export const FailedDeliveries = z
  .strictObject({
    webhookId: id,
    url: z.string().meta({ description: 'The current URL of the webhook.' }),
    dead: counted.meta({
      description: `Number of dead letters: deliveries whose last attempt failed; counted up to ${BACKLOG_COUNTED_MAX}.`,
    }),
    retrying: counted.meta({
      description: `Number of deliveries that failed and wait for their next attempt; counted up to ${BACKLOG_COUNTED_MAX}.`,
    }),
    _links: Links,
  })
  .meta({ id: 'FailedDeliveries' });
export type FailedDeliveries = Readonly<z.infer<typeof FailedDeliveries>>;

export const DeliveryBody = z
  .strictObject({
    body: z
      .string()
      .nullable()
      .meta({ description: 'The request body, byte for byte; null if `reason` says why it is not shown.' }),
    reason: z.string().nullable().meta({ description: 'Why the body is not shown, in words.' }),
  })
  .meta({ id: 'DeliveryBody' });
export type DeliveryBody = Readonly<z.infer<typeof DeliveryBody>>;

export const WebhookStatistics = z
  .strictObject({
    webhookId: id,
    seconds: z.int().positive().meta({ description: 'Length of the interval of each point.' }),
    points: z.array(
      z.strictObject({
        at: timestamp.meta({ description: 'Start of the interval.' }),
        arrived: counted.meta({ description: 'Number of successful attempts.' }),
        failed: counted.meta({ description: 'Number of failed attempts.' }),
        durationMs: z
          .number()
          .nonnegative()
          .nullable()
          .meta({ description: 'Average duration of an attempt; null if there was none.' }),
      }),
    ),
    _links: Links,
  })
  .meta({ id: 'WebhookStatistics' });
export type WebhookStatistics = Readonly<z.infer<typeof WebhookStatistics>>;

const headers = z.record(z.string(), z.string());

export const Attempt = z
  .strictObject({
    number: z.int().positive(),
    at: timestamp,
    durationMs: z.number().nonnegative(),
    status: z.int().nullable().meta({ description: 'Status of the response; null if there was none.' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why there was no response, or why it counts as a failure.' }),
    requestHeaders: headers.meta({ description: 'Headers of the request, without secret values.' }),
    answer: z
      .strictObject({
        headers,
        text: z.string().exactOptional().meta({ description: 'The body, if it is text.' }),
        base64: z.string().exactOptional().meta({ description: 'The body in base64, if it is not text.' }),
        truncated: z
          .boolean()
          .meta({ description: 'Whether the body was longer than the 16 KiB that are stored.' }),
      })
      .nullable(),
  })
  .meta({ id: 'DeliveryAttempt' });
export type Attempt = Readonly<z.infer<typeof Attempt>>;

export const Replay = z
  .strictObject({
    id: z.uuid(),
    webhookId: id,
    from: cursor.nullable().meta({ description: 'Events after this cursor are sent again.' }),
    since: timestamp.nullable().meta({ description: 'Only events of this time or later are sent again.' }),
    to: cursor.meta({ description: 'Events after this cursor are not sent.' }),
    at: cursor.meta({ description: 'Events up to this cursor are processed.' }),
    planned: z.int().nonnegative().meta({ description: 'Number of deliveries that the replay has planned.' }),
    state: z.enum(['running', 'finished', 'dropped']).meta({
      description: '`finished` when all deliveries are planned; `dropped` if the webhook was deleted.',
    }),
    requestedAt: timestamp,
    finishedAt: timestamp.nullable(),
    _links: Links,
  })
  .meta({ id: 'Replay' });
export type Replay = Readonly<z.infer<typeof Replay>>;

export const NewReplay = ReplayWebhook.omit({ type: true, webhookId: true }).meta({ id: 'NewReplay' });

export const NewRedrive = RedriveWebhook.omit({ type: true, webhookId: true }).meta({ id: 'NewRedrive' });

const planned = {
  since: instant.optional().meta({ description: 'Only deliveries that were planned at this time or later.' }),
  until: instant.optional().meta({ description: 'Only deliveries that were planned before this time.' }),
};
const webhookId = idParameter.optional().meta({ description: 'Only deliveries of this webhook.' });

const Search = z.strictObject({
  ...PAGE,
  webhookId,
  state: z
    .enum([...deliveryState.options, 'failed'])
    .optional()
    .meta({
      description:
        'Only deliveries in this state. `failed` means dead letters, and deliveries that failed and wait for their next attempt.',
    }),
  type: deliveredType.max(200).optional().meta({ description: 'Only deliveries of this event type.' }),
  eventId: z.uuid().toLowerCase().optional().meta({
    description: 'Only deliveries of this event. Its id is the id of the delivery, and the `webhook-id`.',
  }),
  subject: z
    .string()
    .max(120)
    .regex(/^[a-z][A-Za-z0-9]{0,39}-\d{1,16}$/, { error: 'Must name an item, such as `user-7001`.' })
    .optional()
    .meta({ description: 'Only deliveries of events of this item.', examples: ['user-7001'] }),
  ...planned,
});
/** The query without its paging parameters. */
export const DeliverySearch = Search.pick({
  webhookId: true,
  state: true,
  type: true,
  eventId: true,
  subject: true,
  since: true,
  until: true,
});
export type DeliverySearch = Readonly<z.output<typeof DeliverySearch>>;

const Failed = z.strictObject({ ...PAGE, webhookId, ...planned });
export type FailedFilter = Readonly<Pick<z.output<typeof Failed>, 'webhookId' | 'since' | 'until'>>;

/** How long statistics of attempts are kept. */
export const STATISTICS_HOURS_MAX = 168;
const STATISTICS_HOURS = 24;
const Statistics = z.strictObject({
  hours: z
    .string()
    .regex(/^\d{1,3}$/, { error: `Must be a whole number from 1 to ${STATISTICS_HOURS_MAX}.` })
    .meta({
      type: 'integer',
      pattern: undefined,
      minimum: 1,
      maximum: STATISTICS_HOURS_MAX,
      description: 'Length of the period in hours, up to now.',
    })
    .default(String(STATISTICS_HOURS))
    .transform(Number)
    .pipe(
      z
        .int()
        .min(1, { error: 'Must be at least 1.' })
        .max(STATISTICS_HOURS_MAX, { error: `Must be at most ${STATISTICS_HOURS_MAX}.` }),
    ),
});

const Deliveries = z.strictObject({
  ...PAGE,
  state: deliveryState.optional(),
  type: deliveredType.max(200).optional().meta({ description: 'Only deliveries of this event type.' }),
  ...planned,
});
export type DeliveryFilter = Readonly<
  Pick<z.output<typeof Deliveries>, 'state' | 'type' | 'since' | 'until'>
>;

const Pages = z.strictObject(PAGE);

const webhook = '/webhooks/{webhookId}';
const delivery = `${webhook}/deliveries/{deliveryId}` as const;
const served = { role: 'webhook-dispatcher', right: 'webhook.manage' } as const;

/** The command runs in the background; `Location` shows its progress. */
const accepted = (description: string, location?: Answer['location']) =>
  ({ status: 202, description, kind: 'written', schema: Written, ...(location && { location }) }) as const;

export const DELIVERY_OPERATIONS = {
  searchDeliveries: {
    ...served,
    method: 'GET',
    path: '/deliveries',
    summary: 'Deliveries of all your webhooks, latest event first',
    query: Search,
    answer: { status: 200, description: 'A page of deliveries.', kind: 'list', schema: FoundDelivery },
  },
  listFailedDeliveries: {
    ...served,
    method: 'GET',
    path: '/deliveries/failed',
    summary: 'Number of failed deliveries, for each of your webhooks with any',
    query: Failed,
    answer: {
      status: 200,
      description: 'A page of webhooks with their counts.',
      kind: 'list',
      schema: FailedDeliveries,
    },
  },
  getWebhookStatistics: {
    ...served,
    method: 'GET',
    path: `${webhook}/statistics`,
    summary: 'Successful and failed attempts over time',
    query: Statistics,
    answer: {
      status: 200,
      description: 'The points of a chart, oldest first.',
      kind: 'item',
      schema: WebhookStatistics,
    },
  },
  listDeliveries: {
    ...served,
    method: 'GET',
    path: `${webhook}/deliveries`,
    summary: 'Deliveries, latest first',
    query: Deliveries,
    answer: { status: 200, description: 'A page of deliveries.', kind: 'list', schema: Delivery },
  },
  getDelivery: {
    ...served,
    method: 'GET',
    path: delivery,
    summary: 'A delivery',
    answer: { status: 200, description: 'The delivery.', kind: 'item', schema: Delivery },
  },
  getDeliveryBody: {
    ...served,
    method: 'GET',
    path: `${delivery}/body`,
    summary: 'The request body of every attempt',
    answer: {
      status: 200,
      description: 'The body, or why it is not shown.',
      kind: 'item',
      schema: DeliveryBody,
    },
  },
  listAttempts: {
    ...served,
    method: 'GET',
    path: `${delivery}/attempts`,
    summary: 'Attempts of a delivery, latest first',
    query: Pages,
    answer: { status: 200, description: 'A page of attempts.', kind: 'list', schema: Attempt },
  },
  listReplays: {
    ...served,
    method: 'GET',
    path: `${webhook}/replays`,
    summary: 'The replays of a webhook, latest first',
    query: Pages,
    answer: { status: 200, description: 'A page of replays.', kind: 'list', schema: Replay },
  },
  getReplay: {
    ...served,
    method: 'GET',
    path: `${webhook}/replays/{replayId}`,
    summary: 'Progress of a replay',
    answer: { status: 200, description: 'The replay.', kind: 'item', schema: Replay },
  },
  testWebhook: {
    ...served,
    method: 'POST',
    path: `${webhook}/test`,
    summary: 'Send a test event',
    refusals: ['webhook_disabled'],
    answer: accepted('The event will be sent: `Location` is its delivery.', {
      rel: 'delivery',
      path: `${webhook}/deliveries/{eventId}`,
    }),
  },
  replayWebhook: {
    ...served,
    method: 'POST',
    path: `${webhook}/replay`,
    summary: 'Replay events since a cursor or a time',
    body: { 'application/json': NewReplay },
    refusals: ['webhook_disabled', 'too_many_replays'],
    answer: accepted('The replay begins: `Location` shows its progress.', {
      rel: 'replay',
      path: `${webhook}/replays/{eventId}`,
    }),
  },
  redeliver: {
    ...served,
    method: 'POST',
    path: `${delivery}/redeliver`,
    summary: 'Resend a delivery',
    refusals: ['webhook_disabled'],
    answer: accepted('The delivery is due.', { rel: 'delivery', path: delivery }),
  },
  redriveWebhook: {
    ...served,
    method: 'POST',
    path: `${webhook}/redrive`,
    summary: 'Resend failed deliveries: all dead letters, or those of a time range',
    body: { 'application/json': NewRedrive },
    isBodyOptional: true,
    refusals: ['webhook_disabled'],
    answer: accepted('The deliveries are due: `Location` lists the deliveries of the webhook.', {
      rel: 'deliveries',
      path: `${webhook}/deliveries`,
    }),
  },
} as const satisfies Record<string, RestOperation>;
