// Over 200 lines, because it is one list: the reads of deliveries, attempts and replays.
import type { EventId, Position, WebhookId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { DeliveryFilter } from '#shared/rest/deliveries.ts';
import type { ShownDeliveryState } from '#shared/rest/delivery.ts';

/** The public part of the ledger; callers check that the webhook is visible. */

export type DeliveryRow = {
  readonly webhook_id: WebhookId;
  readonly event_id: EventId;
  readonly position: Position;
  readonly type: string;
  readonly subject: string;
  readonly state: ShownDeliveryState;
  readonly attempts: number;
  readonly next_at: Date;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly delivered_at: Date | null;
};

export type AttemptRow = {
  readonly event_id: EventId;
  readonly number: number;
  readonly at: Date;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly response_headers: Readonly<Record<string, string>>;
  readonly response_body: Buffer | null;
};

export type ReplayRow = {
  readonly id: EventId;
  readonly webhook_id: WebhookId;
  readonly from_position: Position | null;
  readonly to_position: Position;
  readonly from_time: Date | null;
  readonly at_position: Position;
  readonly planned: number;
  readonly state: 'running' | 'finished' | 'dropped';
  readonly requested_at: Date;
  readonly finished_at: Date | null;
};

/**
 * A span of a list with the latest first: the rows nearest to its start, between these keys, both excluded.
 */
export type Stretch<Key extends number | string = number | string> = {
  readonly after: Key | undefined;
  readonly before: Key | undefined;
  /** Whether it is read from the end, or from `before`. */
  readonly isBackward: boolean;
  readonly rowsMax: number;
};

/** While nothing is sent to a webhook, its due deliveries are not tried before that ends. */
export const DELIVERY = `d.webhook_id, d.event_id, d.position, d.type, d.subject, d.state, d.attempts, d.last_status, d.last_error, d.created_at, d.delivered_at,
  greatest(d.next_at, (select e.not_before from webhook_ledger.endpoint e where e.webhook_id = d.webhook_id)) as next_at`;

export const findDelivery = async (
  pool: Pool,
  webhookId: WebhookId,
  eventId: EventId,
): Promise<DeliveryRow | undefined> => {
  const { rows } = await pool.query<DeliveryRow>(
    `select ${DELIVERY} from webhook_ledger.delivery d where d.webhook_id = $1 and d.event_id = $2`,
    [webhookId, eventId],
  );
  return rows[0];
};

/** Of some events, to any webhook. */
export const listDeliveriesOfEvents = async (
  pool: Pool,
  eventIds: readonly EventId[],
  rowsMax: number,
): Promise<readonly DeliveryRow[]> => {
  const { rows } = await pool.query<DeliveryRow>(
    `select ${DELIVERY} from webhook_ledger.delivery d where d.event_id = any($1) order by d.position, d.webhook_id limit $2`,
    [eventIds, rowsMax],
  );
  return rows;
};

export const deliveryKey = ({ position }: DeliveryRow): number => position;

/** Of each webhook. */
export const listDeliveriesOfMany = async (
  pool: Pool,
  { webhookIds, filter }: { readonly webhookIds: readonly WebhookId[]; readonly filter: DeliveryFilter },
  stretch: Stretch<number>,
): Promise<ReadonlyMap<WebhookId, readonly DeliveryRow[]>> => {
  const rows = await readStretch<DeliveryRow>(pool, stretch, {
    parents: 'unnest($1::bigint[]) as p (id)',
    select: `select ${DELIVERY} from webhook_ledger.delivery d
      where d.webhook_id = p.id and ($2::text is null or d.state = $2) and ($3::text is null or d.type = $3)
        and ($4::timestamptz is null or d.created_at >= $4) and ($5::timestamptz is null or d.created_at < $5)`,
    key: 'position',
    values: [webhookIds, filter.state, filter.type, filter.since, filter.until],
  });
  return Map.groupBy(rows, (row) => row.webhook_id);
};

export const listDeliveries = async (
  pool: Pool,
  { webhookId, filter }: { readonly webhookId: WebhookId; readonly filter: DeliveryFilter },
  stretch: Stretch<number>,
): Promise<readonly DeliveryRow[]> =>
  (await listDeliveriesOfMany(pool, { webhookIds: [webhookId], filter }, stretch)).get(webhookId) ?? [];

export const attemptKey = ({ number }: AttemptRow): number => number;

/** Of each of some deliveries of a webhook. */
export const listAttemptsOfMany = async (
  pool: Pool,
  { webhookId, eventIds }: { readonly webhookId: WebhookId; readonly eventIds: readonly EventId[] },
  stretch: Stretch<number>,
): Promise<ReadonlyMap<EventId, readonly AttemptRow[]>> => {
  const rows = await readStretch<AttemptRow>(pool, stretch, {
    parents: 'unnest($2::uuid[]) as p (id)',
    select: `select a.event_id, a.number, a.at, a.duration_ms, a.status, a.error, a.request_headers, a.response_headers, a.response_body
      from webhook_ledger.attempt a where a.webhook_id = $1 and a.event_id = p.id`,
    key: 'number',
    values: [webhookId, eventIds],
  });
  return Map.groupBy(rows, (row) => row.event_id);
};

export const listAttempts = async (
  pool: Pool,
  { webhookId, eventId }: { readonly webhookId: WebhookId; readonly eventId: EventId },
  stretch: Stretch<number>,
): Promise<readonly AttemptRow[]> =>
  (await listAttemptsOfMany(pool, { webhookId, eventIds: [eventId] }, stretch)).get(eventId) ?? [];

const REPLAY = `r.id, r.webhook_id, r.from_position, r.to_position, r.from_time, r.at_position, r.planned, r.state, r.requested_at,
  r.finished_at`;

const REPLAY_KEY = `(to_char(r.requested_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' ' || r.id) collate "C"`;

export const findReplay = async (
  pool: Pool,
  webhookId: WebhookId,
  replayId: EventId,
): Promise<ReplayRow | undefined> => {
  const { rows } = await pool.query<ReplayRow>(
    `select ${REPLAY} from webhook_ledger.replay r where r.webhook_id = $1 and r.id = $2`,
    [webhookId, replayId],
  );
  return rows[0];
};

const RUNNING_REPLAYS_MAX = 10;

/**
 * Refuses another replay of a webhook that has many under way: each reads the log, from as far back as
 * requested. Only a caller that passes `demandSight` gets this refusal; a webhook that was just registered is
 * not visible yet, and has no replays.
 */
export const demandFewReplays = async (
  pool: Pool,
  webhookId: WebhookId,
  demandSight: () => Promise<unknown>,
): Promise<void> => {
  const { rowCount } = await pool.query(
    `select from webhook_ledger.replay where webhook_id = $1 and state = 'running' limit ${RUNNING_REPLAYS_MAX}`,
    [webhookId],
  );
  if (rowCount !== RUNNING_REPLAYS_MAX) return;
  await demandSight();
  throw new Rejection('too_many_replays', { max: RUNNING_REPLAYS_MAX });
};

/** Two may have been requested in the same millisecond. */
export const replayKey = ({ requested_at, id }: ReplayRow): string => `${requested_at.toISOString()} ${id}`;

/** Of each webhook. */
export const listReplaysOfMany = async (
  pool: Pool,
  webhookIds: readonly WebhookId[],
  stretch: Stretch<string>,
): Promise<ReadonlyMap<WebhookId, readonly ReplayRow[]>> => {
  const rows = await readStretch<ReplayRow>(pool, stretch, {
    parents: 'unnest($1::bigint[]) as p (id)',
    select: `select r.* from (select ${REPLAY}, ${REPLAY_KEY} as key from webhook_ledger.replay r) r where r.webhook_id = p.id`,
    key: 'key',
    values: [webhookIds],
  });
  return Map.groupBy(rows, (row) => row.webhook_id);
};

export const listReplays = async (
  pool: Pool,
  webhookId: WebhookId,
  stretch: Stretch<string>,
): Promise<readonly ReplayRow[]> =>
  (await listReplaysOfMany(pool, [webhookId], stretch)).get(webhookId) ?? [];

type Source = {
  readonly parents: string;
  readonly select: string;
  readonly key: string;
  readonly values: readonly unknown[];
};

const readStretch = async <Row extends object>(
  pool: Pool,
  { after, before, isBackward, rowsMax }: Stretch,
  { parents, select, key, values }: Source,
): Promise<readonly Row[]> => {
  const given = [...values, ...[after, before, rowsMax].filter((value) => value !== undefined)];
  const beyond = after === undefined ? '' : ` and ${key} < $${values.length + 1}`;
  const within = before === undefined ? '' : ` and ${key} > $${given.length - 1}`;
  const order = `order by ${key} ${isBackward ? 'asc' : 'desc'}`;
  const page = `${select}${beyond}${within} ${order} limit $${given.length}`;
  return (await pool.query<Row>(`select x.* from ${parents} cross join lateral (${page}) x ${order}`, given))
    .rows;
};
