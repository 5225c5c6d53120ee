import type { Version, WebhookId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Attributes } from '#kernel/conditions/holds.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { attributesSql } from '#shared/role-and-attributes.ts';
import type { Unattended } from '../queue/delivery-queue.ts';

/** The time for which a run has its webhook exclusively after its last renewal. */
export const RUN_LEASE_MS = 8_000;

/**
 * SQL that is true if nobody runs a webhook. A claim that ends later than its length stems from before the
 * database’s clock was set back.
 */
const IS_FREE = (endpoint: string): string =>
  `not (${endpoint}.run_until >= clock_timestamp() and ${endpoint}.run_until <= clock_timestamp() + ${RUN_LEASE_MS} * interval '1 millisecond')`;

/** An exclusive claim on a webhook, with the state left by the previous run. */
export type Claim = {
  readonly webhookId: WebhookId;
  readonly epoch: number;
  /** Null if the owner cannot be read now. */
  readonly role: Role | null;
  /** The owner’s fields that rights compare. */
  readonly attributes: Attributes | null;
  readonly version: Version;
  readonly isOrdered: boolean;
  readonly ratePerSecond: number;
  readonly concurrency: number;
  readonly breakerOpenings: number;
  /** When its rate permits the next delivery. */
  readonly nextSendInMs: number;
};

/**
 * Claims webhooks that nobody runs and that may be sent to now, by the clock of the database; skips the
 * others. Waits for the commit, so that the epoch survives a crash of the database. PostgreSQL 15 and 16
 * cannot subtract from `-infinity`.
 */
export const claimRuns = async (
  domain: Domain,
  pool: Pool,
  webhookIds: readonly WebhookId[],
): Promise<Map<WebhookId, Claim>> => {
  const { rows } = await pool.query<Claim>(
    `with free as (
       select endpoint.webhook_id, owner.role, ${attributesSql(domain, 'owner')} as attributes
       from webhook_ledger.endpoint left join ${LIVE_SCHEMA}.users owner on owner.id = endpoint.owner_id and owner.deleted_at is null
       where endpoint.webhook_id = any($1) and status = 'enabled' and ${IS_FREE('endpoint')} and not_before <= clock_timestamp()
       order by endpoint.webhook_id for update of endpoint skip locked
     )
     update webhook_ledger.endpoint as claimed
     set run_epoch = run_epoch + 1, run_until = clock_timestamp() + $2 * interval '1 millisecond'
     from free where free.webhook_id = claimed.webhook_id
     returning claimed.webhook_id as "webhookId", run_epoch as epoch, free.role, free.attributes, version,
       is_ordered as "isOrdered", rate_per_second as "ratePerSecond", concurrency, breaker_openings as "breakerOpenings",
       (extract(epoch from greatest(next_send_at, now()) - now()) * 1000)::float8 as "nextSendInMs"`,
    [webhookIds, RUN_LEASE_MS],
  );
  return new Map(rows.map((claim) => [claim.webhookId, claim]));
};

type Held = Pick<Claim, 'webhookId' | 'epoch'>;

/** Renews the claims of runs; returns those that are still held. */
export const renewRuns = async (pool: Pool, runs: readonly Held[]): Promise<ReadonlySet<WebhookId>> => {
  const { rows } = await pool.query<{ webhookId: WebhookId }>(
    `with held as (
       select webhook_id from webhook_ledger.endpoint
       where (webhook_id, run_epoch) in (select * from unnest($1::bigint[], $2::bigint[]))
       order by webhook_id for update
     )
     update webhook_ledger.endpoint as renewed set run_until = clock_timestamp() + $3 * interval '1 millisecond'
     from held where held.webhook_id = renewed.webhook_id and status = 'enabled'
     returning renewed.webhook_id as "webhookId"`,
    [runs.map(({ webhookId }) => webhookId), runs.map(({ epoch }) => epoch), RUN_LEASE_MS],
  );
  return new Set(rows.map(({ webhookId }) => webhookId));
};

export type Release = Held & {
  /** Nothing is sent before this time. */
  readonly pauseMs: number;
  readonly nextSendInMs: number;
  readonly breakerOpenings: number;
};

/**
 * Ends runs, and returns the webhooks to which more could be sent at once. An ordered one waits for its
 * oldest delivery.
 */
export const releaseRuns = async (
  pool: Pool,
  releases: readonly Release[],
): Promise<ReadonlySet<WebhookId>> => {
  const { rows } = await pool.query<{ webhookId: WebhookId; isDue: boolean }>(
    `with released as materialized (
       select * from unnest($1::bigint[], $2::bigint[], $3::float8[], $4::float8[], $5::integer[])
         as given (webhook_id, epoch, pause_ms, next_send_ms, openings)
     ), held as (
       select webhook_id, run_epoch as epoch from webhook_ledger.endpoint
       where (webhook_id, run_epoch) in (select webhook_id, epoch from released) order by webhook_id for update
     )
     update webhook_ledger.endpoint as ended
     set run_until = '-infinity', next_send_at = now() + next_send_ms * interval '1 millisecond', breaker_openings = openings,
       not_before = greatest(
         case when pause_ms > 0 then now() + pause_ms * interval '1 millisecond' else '-infinity' end,
         case when is_ordered then (
           select next_at from webhook_ledger.delivery due
           where due.webhook_id = ended.webhook_id and state = 'due' order by position limit 1) else '-infinity' end)
     from held join released using (webhook_id, epoch)
     where ended.webhook_id = held.webhook_id
     returning ended.webhook_id as "webhookId", ${IS_DUE('ended')} as "isDue"`,
    [
      releases.map(({ webhookId }) => webhookId),
      releases.map(({ epoch }) => epoch),
      releases.map(({ pauseMs }) => pauseMs),
      releases.map(({ nextSendInMs }) => nextSendInMs),
      releases.map(({ breakerOpenings }) => breakerOpenings),
    ],
  );
  return new Set(rows.filter(({ isDue }) => isDue).map(({ webhookId }) => webhookId));
};

/**
 * SQL that is true if a webhook has a due delivery and no run. It looks up the first due delivery of each: a
 * join with all due ones would be slow if many wait.
 */
const IS_DUE = (endpoint: string): string =>
  `(${endpoint}.status = 'enabled' and ${IS_FREE(endpoint)} and ${endpoint}.not_before <= now() and coalesce((
     select due.next_at from webhook_ledger.delivery due
     where due.webhook_id = ${endpoint}.webhook_id and due.state = 'due' order by due.next_at limit 1) <= now(), false))`;

export const SWEPT_MAX = 1_000;

/** SQL that is true if there are such webhooks. */
export const ARE_UNATTENDED = `exists (select from webhook_ledger.endpoint where ${IS_DUE('endpoint')})`;

/** Webhooks with due deliveries and no run, including those that the queue has lost, but none that waits here. */
export const findUnattended = async (
  pool: Pool,
  waiting: ReadonlySet<WebhookId>,
): Promise<readonly Unattended[]> => {
  const { rows } = await pool.query<Unattended>(
    `select webhook_id as "webhookId", run_epoch as epoch from webhook_ledger.endpoint where ${IS_DUE('endpoint')} limit $1`,
    [SWEPT_MAX + waiting.size],
  );
  return rows.filter(({ webhookId }) => !waiting.has(webhookId)).slice(0, SWEPT_MAX);
};
