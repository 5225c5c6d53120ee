import type { WebhookId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { filterColumnsOf } from '#kernel/webhook/webhook-fields.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { PlannedEndpoint } from '#shared/webhooks/planned-endpoint.ts';

type Row = Omit<PlannedEndpoint, 'limits' | 'scopes'> & {
  readonly scopes: readonly string[];
  readonly ratePerSecond: number;
  readonly concurrency: number;
};

const columnsFor = (domain: Domain): string => {
  const filter = filterColumnsOf(domain).flatMap(([column, name]) => [`'${name}'`, column]);
  return `webhook_id as "webhookId", owner_id as "ownerId", version, status, event_types as "eventTypes",
  jsonb_strip_nulls(jsonb_build_object(${filter.join(', ')})) as filter, scopes, payload, format, is_ordered as "isOrdered",
  rate_per_second as "ratePerSecond", concurrency`;
};

/** A domain may have filters that no earlier one had. */
export const addFilterColumns = async (pool: Pool, domain: Domain): Promise<void> => {
  const { rows } = await pool.query<{ column: string }>(
    `select column_name as column from information_schema.columns where table_schema = 'webhook_ledger' and table_name = 'endpoint'`,
  );
  const missing = filterColumnsOf(domain).filter(([column]) => !rows.some((row) => row.column === column));
  if (missing.length === 0) return;
  const added = missing.map(([column]) => `add column if not exists ${column} bigint`);
  await pool.query(`alter table webhook_ledger.endpoint ${added.join(', ')}`);
};

/** All webhooks that are not deleted. */
export const readEndpoints = async (
  connection: Connection,
  domain: Domain,
): Promise<readonly PlannedEndpoint[]> => {
  const { rows } = await connection.query<Row>(
    `select ${columnsFor(domain)} from webhook_ledger.endpoint where status <> 'deleted'`,
  );
  return rows.map(toEndpoint);
};

export const readEndpoint = async (
  pool: Pool,
  domain: Domain,
  webhookId: WebhookId,
): Promise<PlannedEndpoint | undefined> => {
  const { rows } = await pool.query<Row>(
    `select ${columnsFor(domain)} from webhook_ledger.endpoint where webhook_id = $1`,
    [webhookId],
  );
  return rows[0] && toEndpoint(rows[0]);
};

const toEndpoint = ({ scopes, ratePerSecond, concurrency, ...row }: Row): PlannedEndpoint => ({
  ...row,
  scopes: new Set(scopes),
  limits: { ratePerSecond, concurrency },
});

/**
 * Locks webhooks for the transaction, in the same order as every other transaction, because another order
 * could deadlock.
 */
export const lockEndpoints = async (
  connection: Connection,
  webhookIds: ReadonlySet<WebhookId>,
): Promise<void> => {
  if (webhookIds.size === 0) return;
  await connection.query(
    'select from webhook_ledger.endpoint where webhook_id = any($1) order by webhook_id for update',
    [[...webhookIds]],
  );
};

/** Enabling resets the failure record. */
export const writeEndpoint = async (
  connection: Connection,
  domain: Domain,
  endpoint: PlannedEndpoint,
): Promise<void> => {
  const { webhookId, ownerId, scopes, version, status, eventTypes, filter, payload, format } = endpoint;
  const { isOrdered, limits } = endpoint;
  const filters = filterColumnsOf(domain).map(([column, name]) => [column, filter[name] ?? null] as const);
  const changing = [
    ['version', version],
    ['status', status],
    ['event_types', eventTypes],
    ['is_ordered', isOrdered],
    ['rate_per_second', limits.ratePerSecond],
    ['concurrency', limits.concurrency],
    ['scopes', [...scopes]],
    ['payload', payload],
    ['format', format],
    ...filters,
  ] as const;
  const columns = ['webhook_id', 'owner_id', ...changing.map(([column]) => column)];
  const isEnabledAgain = `excluded.status = 'enabled' and known.status <> 'enabled'`;
  await connection.query(
    `insert into webhook_ledger.endpoint as known (${columns.join(', ')}) values (${columns.map((_, at) => `$${at + 1}`).join(', ')})
     on conflict (webhook_id) do update set
       ${changing.map(([column]) => `${column} = excluded.${column}`).join(', ')},
       failing_since = case when ${isEnabledAgain} then null else known.failing_since end,
       failures_in_row = case when ${isEnabledAgain} then 0 else known.failures_in_row end,
       breaker_openings = case when ${isEnabledAgain} then 0 else known.breaker_openings end,
       not_before = case when ${isEnabledAgain} then '-infinity' else known.not_before end`,
    [webhookId, ownerId, ...changing.map(([, value]) => value)],
  );
};
