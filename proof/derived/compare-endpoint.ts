import { isDeepStrictEqual } from 'node:util';
import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { FORMAT_DEFAULT, filterColumnsOf } from '#kernel/webhook/webhook-fields.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { decodeClear } from '#shared/events/decode-clear.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { endpointAfter, type PlannedEndpoint, webhookChangeOf } from '#shared/webhooks/planned-endpoint.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';

type EndpointDependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'read'>;
  readonly domain: Domain;
};

export const WEBHOOKS = 'webhook-';
const TABLE = 'webhook_ledger.endpoint';

/**
 * Compares the settings by which the planner chooses the deliveries to a webhook with the events of the
 * webhook, up to the checkpoint of the planner. Results of deliveries in the same row are not in the log.
 */
export const compareEndpoint = async (
  dependencies: EndpointDependencies,
  stream: StreamName,
): Promise<readonly DerivedFinding[]> => {
  const found = await compareOnce(dependencies, stream);
  // A node of a cluster may lag behind the one from which the planner has read.
  return found.length === 0 || isDeepStrictEqual(found, await compareOnce(dependencies, stream)) ? found : [];
};

const compareOnce = async (
  { pool, eventLog, domain }: EndpointDependencies,
  stream: StreamName,
): Promise<readonly DerivedFinding[]> => {
  const key = stream.slice(WEBHOOKS.length);
  const seen = await readRow(pool, eventLog, key);
  if (seen === undefined) return [];
  const { expected, last } = await foldUpTo({ eventLog, domain }, stream, seen.reached);
  const about = {
    ...{ table: TABLE, key, stream },
    version: last?.version ?? null,
    position: last?.position ?? null,
  };
  if (expected === undefined || seen.row === null) {
    if (expected === undefined && seen.row === null) return [];
    const kind = expected === undefined ? 'derived_extra' : 'derived_missing';
    return [{ kind, ...about, columns: [] }];
  }
  const wanted = columnsOf(domain, expected);
  // A database whose dispatcher is of a former release has no formats yet.
  const row: Row = { format: FORMAT_DEFAULT, ...seen.row };
  const columns = Object.keys(wanted).filter(
    (name) => !isDeepStrictEqual(sorted(row[name] ?? null), sorted(wanted[name])),
  );
  return columns.length === 0 ? [] : [{ kind: 'derived_different', ...about, columns }];
};

type Row = Readonly<Record<string, unknown>>;

/** Of the same moment as the checkpoint; undefined if no planner has followed this log. */
const readRow = async (
  pool: Pool,
  { identity }: Pick<EventLog, 'identity'>,
  id: string,
): Promise<{ readonly reached: Position; readonly row: Row | null } | undefined> => {
  const { rows } = await pool.query<{ reached: Position; row: Row | null }>(
    `select c.position as reached, to_jsonb(e) as row
     from public.follower_checkpoint c left join ${TABLE} e on e.webhook_id::text = $3
     where c.follower = $1 and c.log = $2`,
    [PLANNER, identity, id],
  );
  return rows[0];
};

type Folded = {
  readonly expected: PlannedEndpoint | undefined;
  readonly last: RecordedEvent | undefined;
};

/** Like the planner, which omits damaged events. */
const foldUpTo = async (
  { eventLog, domain }: Pick<EndpointDependencies, 'eventLog' | 'domain'>,
  stream: StreamName,
  upTo: Position,
): Promise<Folded> => {
  const catalogue = catalogueOf(domain);
  let expected: PlannedEndpoint | undefined;
  let last: RecordedEvent | undefined;
  for await (const page of eventLog.read(stream))
    for (const event of page) {
      if (event.position > upTo) return { expected, last };
      last = event;
      const clear = decodeClear(catalogue, event);
      const change = clear && webhookChangeOf({ ...event, ...clear } as unknown as Change);
      if (change) expected = endpointAfter(expected, change);
    }
  return { expected, last };
};

const columnsOf = (domain: Domain, endpoint: PlannedEndpoint): Row => ({
  owner_id: endpoint.ownerId,
  version: endpoint.version,
  status: endpoint.status,
  event_types: endpoint.eventTypes,
  scopes: [...endpoint.scopes],
  payload: endpoint.payload,
  format: endpoint.format,
  is_ordered: endpoint.isOrdered,
  rate_per_second: endpoint.limits.ratePerSecond,
  concurrency: endpoint.limits.concurrency,
  ...Object.fromEntries(
    filterColumnsOf(domain).map(([column, name]) => [column, endpoint.filter[name] ?? null]),
  ),
});

/** The order of scopes and types has no meaning. */
const sorted = (value: unknown): unknown => (Array.isArray(value) ? value.toSorted() : value);
