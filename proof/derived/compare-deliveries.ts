import { isDeepStrictEqual } from 'node:util';
import type { EventId, Position, UserId, WebhookId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { FORMAT_DEFAULT, filterColumnsOf } from '#kernel/webhook/webhook-fields.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { policyOf } from '#shared/policy.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { readOwners } from '#shared/webhooks/owners.ts';
import type { PlannedEndpoint } from '#shared/webhooks/planned-endpoint.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import { planningRightsOf } from '#shared/webhooks/planning-rights.ts';
import { isVisibleTo, wants } from '#shared/webhooks/wanted.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly domain: Domain;
};

const TABLE = 'webhook_ledger.delivery';
/** Settled deliveries are kept for a day at least. */
const DECIDABLE_MS = 20 * 3_600_000;

/**
 * Compares the deliveries of recent events with those that must be planned: of every webhook that has not
 * changed since, and whose owner has not. For others nothing shows which rights and settings there were, and
 * settled deliveries of earlier events may have been deleted.
 */
export const compareDeliveries = async (
  dependencies: Dependencies,
  events: readonly RecordedEvent[],
): Promise<readonly DerivedFinding[]> => {
  const recent = events.filter(({ metadata }) => metadata?.importedAt === undefined);
  if (recent.length === 0) return [];
  const found = await compareOnce(dependencies, recent);
  return found.length === 0 || isDeepStrictEqual(found, await compareOnce(dependencies, recent)) ? found : [];
};

const compareOnce = async (
  dependencies: Dependencies,
  recent: readonly RecordedEvent[],
): Promise<readonly DerivedFinding[]> => {
  const planned = await readPlanned(dependencies, recent);
  if (planned === undefined) return [];
  const { endpoints, owners, messages, deliveries, ownerChanges, reached } = planned;
  const { domain } = dependencies;
  const [filters, policy] = [filtersOf(domain), policyOf(domain)];
  return recent.flatMap(({ id, stream, version, position }): readonly DerivedFinding[] => {
    const text = messages.get(id);
    if (text === undefined || position > reached) return [];
    const change = JSON.parse(text) as Change;
    return endpoints.flatMap(({ changedAt, ...endpoint }): readonly DerivedFinding[] => {
      const { webhookId, ownerId, status } = endpoint;
      if (changedAt === null || changedAt >= position || stream === streamName('webhook', webhookId))
        return [];
      if ((ownerChanges.get(ownerId) ?? Number.POSITIVE_INFINITY) >= position) return [];
      const key = `${webhookId} ${id}`;
      const about = { table: TABLE, key, columns: [], stream, version, position };
      const isWanted = status === 'enabled' && wants(filters, endpoint, change);
      if (deliveries.has(key)) return isWanted ? [] : [{ kind: 'derived_extra', ...about }];
      // While the owner is parked, more is planned.
      const isExpected =
        isWanted && owners.get(ownerId)?.length === 1 && isVisibleTo({ owners, policy }, endpoint, change);
      return isExpected ? [{ kind: 'derived_missing', ...about }] : [];
    });
  });
};

type Endpoint = PlannedEndpoint & { readonly changedAt: Position | null };

/**
 * Of one moment; undefined unless the index of events and the read model have all that was planned, by the
 * rights of this release.
 */
const readPlanned = ({ pool, eventLog, domain }: Dependencies, recent: readonly RecordedEvent[]) =>
  inTransaction(pool, async (connection) => {
    await connection.query('set transaction isolation level repeatable read, read only');
    const { rows: at } = await connection.query<{ reached: Position; after: Position; nowMs: number }>(
      `select p.position as reached, (extract(epoch from now()) * 1000)::float8 as "nowMs", greatest(g.after_position,
         (select up_to_position from webhook_ledger.quiet where log = p.log)) as after
       from public.follower_checkpoint p
         join public.follower_checkpoint i on i.follower = $2 and i.log = p.log and i.position >= p.position
         join public.follower_checkpoint r on r.follower = $3 and r.log = p.log and r.position >= p.position
         join webhook_ledger.planning g on g.rights = $5
       where p.follower = $1 and p.log = $4`,
      [PLANNER, EVENT_INDEX, PROJECTOR, eventLog.identity, planningRightsOf(domain)],
    );
    const [planning] = at;
    if (planning === undefined) return undefined;
    const since = planning.nowMs - DECIDABLE_MS;
    const told = recent.filter(
      ({ position, recordedAt }) => position > planning.after && recordedAt.getTime() > since,
    );
    if (told.length === 0) return undefined;
    const ids = told.map(({ id }) => id);
    const { rows: messages } = await connection.query<{ id: EventId; change: string }>(
      'select event_id as id, change from webhook_ledger.message where event_id = any($1)',
      [ids],
    );
    if (messages.length === 0) return undefined;
    const filter = filterColumnsOf(domain).flatMap(([column, name]) => [`'${name}'`, column]);
    const { rows: endpoints } = await connection.query<
      Omit<Endpoint, 'scopes' | 'limits' | 'format'> & { readonly scopes: readonly string[] }
    >(
      `select webhook_id as "webhookId", owner_id as "ownerId", version, status, event_types as "eventTypes",
         jsonb_strip_nulls(jsonb_build_object(${filter.join(', ')})) as filter, scopes, payload, is_ordered as "isOrdered",
         (select max(e.position) from event_index.event e where e.stream = 'webhook-' || webhook_id) as "changedAt"
       from webhook_ledger.endpoint where status <> 'deleted'`,
    );
    const ownerIds = new Set(endpoints.map(({ ownerId }) => ownerId));
    const { rows: changes } = await connection.query<{ id: UserId; position: Position }>(
      `select u.id, max(e.position) as position from unnest($1::bigint[]) as u (id)
         join event_index.event e on e.stream = 'user-' || u.id group by u.id`,
      [[...ownerIds]],
    );
    const { rows: deliveries } = await connection.query<{ webhookId: WebhookId; id: EventId }>(
      `select webhook_id as "webhookId", event_id as id from ${TABLE} where event_id = any($1)`,
      [ids],
    );
    return {
      reached: planning.reached,
      endpoints: endpoints.map(
        ({ scopes, ...rest }): Endpoint => ({
          ...rest,
          scopes: new Set(scopes),
          limits: { ratePerSecond: 0, concurrency: 0 },
          format: FORMAT_DEFAULT,
        }),
      ),
      owners: await readOwners(connection, domain, ownerIds),
      ownerChanges: new Map(changes.map(({ id, position }) => [id, position])),
      messages: new Map(messages.map(({ id, change }) => [id, change])),
      deliveries: new Set(deliveries.map(({ webhookId, id }) => `${webhookId} ${id}`)),
    };
  });
