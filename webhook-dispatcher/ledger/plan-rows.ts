import type { EventId, Position, WebhookId } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { Catalogue, EventOf } from '#shared/events/catalogue.ts';
import { IS_DEAD, IS_RETRIED } from '#shared/webhooks/failed.ts';
import type { PlannedEndpoint } from '#shared/webhooks/planned-endpoint.ts';
import type { Shape } from '../deliver/delivery.ts';

/** A change to be delivered to a webhook. */
export type PlannedDelivery = {
  readonly webhookId: WebhookId;
  readonly change: Change;
  /** The shape of its first attempt, whenever that is; null if it depends on what the owner may read then. */
  readonly shape: Shape | null;
};

/** Fixes the shape when the delivery is planned: an attempt that was never recorded had the same. */
export const plannedFor = (
  { webhookId, payload }: Pick<PlannedEndpoint, 'webhookId' | 'payload'>,
  change: Change,
): PlannedDelivery => ({
  webhookId,
  change,
  shape: payload === 'thin' ? 'ids' : null,
});

/** Records by which rights deliveries are planned from now on. */
export const declarePlanning = async (
  connection: Connection,
  rights: string,
  afterPosition: Position,
): Promise<void> => {
  await connection.query(
    `insert into webhook_ledger.planning as known (rights, after_position) values ($1, $2)
     on conflict (only_row) do update set rights = excluded.rights, after_position = excluded.after_position
     where known.rights <> excluded.rights`,
    [rights, afterPosition],
  );
};

type RequestedReplay = {
  readonly id: string;
  readonly webhookId: WebhookId;
  readonly from: Position | null;
  readonly to: Position;
  readonly time: string | null;
};

const ROWS_AT_ONCE_MAX = 10_000;

/** Refreshes old messages, so that a concurrent purge keeps them. */
const WRITE_MESSAGES = `
  insert into webhook_ledger.message (event_id, position, change, person_id)
  select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[])
  on conflict (event_id) do update set recorded_at = now() where message.recorded_at < now() - interval '1 hour'`;

const PLAN = {
  name: 'webhook-plan',
  text: `with messages as (${WRITE_MESSAGES})
    insert into webhook_ledger.delivery (webhook_id, event_id, position, type, subject, shape)
    select * from unnest($5::bigint[], $6::uuid[], $7::bigint[], $8::text[], $9::text[], $10::text[])
    on conflict (event_id, webhook_id) do nothing`,
};

/**
 * Writes each change once, with its deliveries; existing ones stay unchanged. Returns whether all were new.
 */
export const writeDeliveries = async (
  connection: Connection,
  catalogue: Catalogue,
  deliveries: readonly PlannedDelivery[],
): Promise<boolean> => {
  let written = 0;
  for (let first = 0; first < deliveries.length; first += ROWS_AT_ONCE_MAX) {
    const some = deliveries.slice(first, first + ROWS_AT_ONCE_MAX);
    const { rowCount } = await connection.query({
      ...PLAN,
      values: [...messageColumns(catalogue, some), ...deliveryColumns(some)],
    });
    written += rowCount ?? 0;
  }
  return written === deliveries.length;
};

export const writeMessages = async (
  connection: Connection,
  catalogue: Catalogue,
  deliveries: readonly PlannedDelivery[],
): Promise<void> => void (await connection.query(WRITE_MESSAGES, messageColumns(catalogue, deliveries)));

const messageColumns = (catalogue: Catalogue, deliveries: readonly PlannedDelivery[]) => {
  const changes = [...new Map(deliveries.map(({ change }) => [change.id, change])).values()];
  return [
    changes.map(({ id }) => id),
    changes.map(({ position }) => position),
    changes.map((change) => JSON.stringify(change)),
    changes.map((change) => personIn(catalogue, change)),
  ];
};

const deliveryColumns = (deliveries: readonly PlannedDelivery[]) => [
  deliveries.map(({ webhookId }) => webhookId),
  deliveries.map(({ change }) => change.id),
  deliveries.map(({ change }) => change.position),
  deliveries.map(({ change }) => change.type),
  deliveries.map(({ change }) => change.stream),
  deliveries.map(({ shape }) => shape),
];

/** The person of the event’s personal fields. */
const personIn = (catalogue: Catalogue, { type, data }: Change): number | null => {
  const personal = catalogue.find(type)?.personal;
  const subject = personal && data[personal.subject];
  return typeof subject === 'number' ? subject : null;
};

/**
 * Drops deliveries that are not sent yet. Locks replays first: waits for a replay in progress, and then drops
 * what it planned.
 */
export const dropDeliveries = async (
  connection: Connection,
  webhookIds: readonly WebhookId[],
): Promise<void> => {
  await connection.query(
    `update webhook_ledger.replay set state = 'dropped', finished_at = now() where webhook_id = any($1) and state = 'running'`,
    [webhookIds],
  );
  await connection.query(
    `update webhook_ledger.delivery set state = 'dropped', settled_at = now() where webhook_id = any($1) and state = 'due'`,
    [webhookIds],
  );
};

export const DUE_AGAIN = `state = 'due', tries = 0, next_at = now(), delivered_at = null, settled_at = null`;

/** Makes one delivery due, whatever its state. */
export const redeliver = async (
  connection: Connection,
  webhookId: WebhookId,
  eventId: EventId,
): Promise<void> => {
  await connection.query(
    `update webhook_ledger.delivery set ${DUE_AGAIN} where webhook_id = $1 and event_id = $2`,
    [webhookId, eventId],
  );
  await letThrough(connection, webhookId);
};

type Redriven = Pick<
  EventOf<'webhook.redrive_requested'>['data'],
  'webhookId' | 'since' | 'until' | 'retrying'
>;

/**
 * Makes dead letters due that were planned in this period; with `retrying`, also failed deliveries that wait
 * for a retry. The planner has locked the webhook, so that no run records them meanwhile.
 */
export const redrive = async (
  connection: Connection,
  { webhookId, since, until, retrying }: Redriven,
): Promise<void> => {
  for (const failed of retrying ? [IS_DEAD, IS_RETRIED] : [IS_DEAD]) {
    await connection.query(
      `update webhook_ledger.delivery set ${DUE_AGAIN} where webhook_id = $1 and ${failed}
         and created_at >= coalesce($2::timestamptz, '-infinity') and created_at < coalesce($3::timestamptz, 'infinity')`,
      [webhookId, since, until],
    );
  }
  await letThrough(connection, webhookId);
};

/** A manual request does not wait because of earlier failures. */
export const letThrough = async (connection: Connection, webhookId: WebhookId): Promise<void> => {
  await connection.query(
    `update webhook_ledger.endpoint set not_before = '-infinity' where webhook_id = $1`,
    [webhookId],
  );
};

export const writeReplay = async (
  connection: Connection,
  { id, webhookId, from, to, time }: RequestedReplay,
): Promise<void> => {
  await connection.query(
    `insert into webhook_ledger.replay (id, webhook_id, from_position, to_position, from_time, at_position, requested_at)
     values ($1, $2, $3::bigint, $4, $5, coalesce($3::bigint, 0), now()) on conflict (id) do nothing`,
    [id, webhookId, from, to, time],
  );
};
