import type { ArticleId, UserId, WebhookId } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { PlannedEndpoint } from '../endpoints.ts';

type Row = Omit<PlannedEndpoint, 'filter' | 'limits' | 'scopes'> & {
  readonly scopes: readonly string[];
  readonly articleId: ArticleId | null;
  readonly authorId: UserId | null;
  readonly ratePerSecond: number;
  readonly concurrency: number;
};

const COLUMNS = `webhook_id as "webhookId", owner_id as "ownerId", version, status, event_types as "eventTypes",
  filter_article_id as "articleId", filter_author_id as "authorId", scopes, payload, is_ordered as "isOrdered",
  rate_per_second as "ratePerSecond", concurrency`;

/** All that were not deleted. */
export const readEndpoints = async (connection: Connection): Promise<readonly PlannedEndpoint[]> => {
  const { rows } = await connection.query<Row>(`select ${COLUMNS} from webhook_ledger.endpoint where status <> 'deleted'`);
  return rows.map(toEndpoint);
};

export const readEndpoint = async (pool: Pool, webhookId: WebhookId): Promise<PlannedEndpoint | undefined> => {
  const { rows } = await pool.query<Row>(`select ${COLUMNS} from webhook_ledger.endpoint where webhook_id = $1`, [webhookId]);
  return rows[0] && toEndpoint(rows[0]);
};

const toEndpoint = ({ articleId, authorId, scopes, ratePerSecond, concurrency, ...row }: Row): PlannedEndpoint => ({
  ...row,
  scopes: new Set(scopes),
  filter: { ...(articleId !== null && { articleId }), ...(authorId !== null && { authorId }) },
  limits: { ratePerSecond, concurrency },
});

/** Takes webhooks for the transaction, in the order in which all do who take several: otherwise two could wait for each other for ever. */
export const lockEndpoints = async (connection: Connection, webhookIds: ReadonlySet<WebhookId>): Promise<void> => {
  if (webhookIds.size === 0) return;
  await connection.query('select from webhook_ledger.endpoint where webhook_id = any($1) order by webhook_id for update', [
    [...webhookIds],
  ]);
};

/** One that was enabled again begins with a clean record. */
export const writeEndpoint = async (connection: Connection, endpoint: PlannedEndpoint): Promise<void> => {
  const { webhookId, ownerId, scopes, version, status, eventTypes, filter, payload, isOrdered, limits } = endpoint;
  await connection.query(
    `insert into webhook_ledger.endpoint as known
       (webhook_id, owner_id, version, status, event_types, filter_article_id, filter_author_id, is_ordered, rate_per_second, concurrency,
       scopes, payload)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (webhook_id) do update set
       version = $3, status = $4, event_types = $5, filter_article_id = $6, filter_author_id = $7, is_ordered = $8,
       rate_per_second = $9, concurrency = $10, scopes = $11, payload = $12,
       failing_since = case when $4 = 'enabled' and known.status <> 'enabled' then null else known.failing_since end,
       failures_in_row = case when $4 = 'enabled' and known.status <> 'enabled' then 0 else known.failures_in_row end,
       breaker_openings = case when $4 = 'enabled' and known.status <> 'enabled' then 0 else known.breaker_openings end,
       not_before = case when $4 = 'enabled' and known.status <> 'enabled' then '-infinity' else known.not_before end`,
    [
      webhookId,
      ownerId,
      version,
      status,
      eventTypes,
      filter.articleId ?? null,
      filter.authorId ?? null,
      isOrdered,
      limits.ratePerSecond,
      limits.concurrency,
      [...scopes],
      payload,
    ],
  );
};
