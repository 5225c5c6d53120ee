import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import { type EventLog, FIRST } from '#shared/event-log/event-log.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { PLANNER } from '#shared/webhooks/planned-endpoint.ts';
import type { Difference } from '../stored/watch.ts';
import { compareEndpoint, WEBHOOKS } from './compare-endpoint.ts';
import { compareIndex, type Stretch } from './compare-index.ts';
import { comparePerson, type PersonDependencies, USERS } from './compare-person.ts';
import { comparePlan } from './compare-plan.ts';

type DerivedDependencies = PersonDependencies;

const PERSONS_AT_ONCE = 16;

/**
 * The checks of the tables that follow from the log beside the read model. Verification and watch make the
 * same ones: on the way through the log, and at its end.
 */
export const compareDerived = async (
  dependencies: DerivedDependencies,
  stretch: Stretch,
): Promise<readonly DerivedFinding[]> => {
  const { isIndexed, isPlanned, hasPersons } = await readSchemas(dependencies.pool);
  const found = isIndexed ? [...(await compareIndex(dependencies, stretch))] : [];
  if (hasPersons) {
    const users = stretch.events.filter(
      ({ stream, version }) => version === FIRST && stream.startsWith(USERS),
    );
    // Each takes some round trips.
    for (let from = 0; from < users.length; from += PERSONS_AT_ONCE) {
      const some = users.slice(from, from + PERSONS_AT_ONCE);
      found.push(
        ...(await Promise.all(some.map(({ stream }) => comparePerson(dependencies, stream)))).flat(),
      );
    }
  }
  if (!isPlanned) return found;
  found.push(...(await comparePlan(dependencies, stretch.events)));
  for (const { stream, version } of stretch.events)
    if (version === FIRST && stream.startsWith(WEBHOOKS))
      found.push(...(await compareEndpoint(dependencies, stream)));
  return found;
};

/** Rows about events that are not in the log. The index, which is compared with the log, says which are. */
export const findRowsOfNoEvent = async (
  dependencies: DerivedDependencies,
): Promise<readonly DerivedFinding[]> => {
  const { isIndexed, isPlanned } = await readSchemas(dependencies.pool);
  return isIndexed ? findUnlogged(dependencies, { isPlanned }) : [];
};

/** Other processes create them when they start for the first time. */
const readSchemas = async (pool: Pool): Promise<Schemas> => {
  const { rows } = await pool.query<Schemas>(
    `select to_regclass('event_index.moment') is not null and to_regclass('public.follower_checkpoint') is not null as "isIndexed",
       to_regclass('webhook_ledger.delivery') is not null and to_regclass('public.follower_checkpoint') is not null as "isPlanned",
       to_regclass('auth.person') is not null and to_regclass('public.follower_checkpoint') is not null as "hasPersons"`,
  );
  return rows[0] ?? { isIndexed: false, isPlanned: false, hasPersons: false };
};

type Schemas = { readonly isIndexed: boolean; readonly isPlanned: boolean; readonly hasPersons: boolean };

/** In the form of the watch, which names the table and the columns. */
export const differenceOf = ({
  kind,
  table,
  columns,
  stream,
  version,
  position,
}: DerivedFinding): Difference => ({
  ...{ kind, stream, version, position: position as Position | null },
  fields: columns.length === 0 ? [table] : columns.map((column) => `${table}.${column}`),
});

type Dependencies = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'identity'> };

const LISTED_MAX = 100;

/**
 * Rows that no event of the log explains, by the index of events. Rows beyond the index cannot be compared
 * yet, except those of the index itself, which moves with its checkpoint.
 */
const findUnlogged = async (
  { pool, eventLog }: Dependencies,
  { isPlanned }: { readonly isPlanned: boolean },
): Promise<readonly DerivedFinding[]> => {
  const parts = [BEYOND, ...(isPlanned ? PLANNED : [])].map((part) => `(${part} limit ${LISTED_MAX})`);
  const { rows } = await pool.query<{
    kind: 'derived_missing' | 'derived_extra';
    table: string;
    key: string;
    position: Position | null;
  }>(
    `with reached as (select position from public.follower_checkpoint where follower = $1 and log = $2)
     ${parts.join(' union all ')}`,
    [EVENT_INDEX, eventLog.identity],
  );
  return rows.map((row) => ({ ...row, columns: [], stream: null, version: null }));
};

const BEYOND = `select 'derived_extra' as kind, 'event_index.event' as table, position || ' ' || id as key, position
  from event_index.event where position > (select position from reached)`;

const isLogged = (id: string): string => `exists (select from event_index.event e where e.id = ${id})`;

const PLANNED = [
  `select 'derived_extra', 'webhook_ledger.message', event_id::text, position
   from webhook_ledger.message m
   where position <= (select position from reached) and not ${isLogged('m.event_id')}`,
  `select 'derived_extra', 'webhook_ledger.delivery', webhook_id || ' ' || event_id, position
   from webhook_ledger.delivery d
   where position <= (select position from reached)
     and (not ${isLogged('d.event_id')} or not exists (select from webhook_ledger.endpoint p where p.webhook_id = d.webhook_id))`,
  // Messages outlive their deliveries.
  `select distinct 'derived_missing', 'webhook_ledger.message', event_id::text, position
   from webhook_ledger.delivery d
   where not exists (select from webhook_ledger.message m where m.event_id = d.event_id)`,
  // Webhooks whose planner is ahead of the index are found in the next round.
  `select 'derived_extra', 'webhook_ledger.endpoint', webhook_id::text, null
   from webhook_ledger.endpoint p
   where not exists (select from event_index.event e where e.stream = '${WEBHOOKS}' || webhook_id)
     and (select position from reached) >= (select max(position) from public.follower_checkpoint where follower = '${PLANNER}')`,
];
