import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import { type EventLog, FIRST } from '#shared/event-log/event-log.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import type { Difference } from '../stored/watch.ts';
import { compareDeliveries } from './compare-deliveries.ts';
import { compareEndpoint, WEBHOOKS } from './compare-endpoint.ts';
import { compareFollowing } from './compare-following.ts';
import { compareIndex, type Stretch } from './compare-index.ts';
import { compareMemberships } from './compare-memberships.ts';
import { comparePerson, type PersonDependencies, USERS } from './compare-person.ts';
import { comparePlan } from './compare-plan.ts';
import type { FollowingDependencies } from './expected-references.ts';
import { findCheckpointsAhead } from './find-checkpoints-ahead.ts';
import { findExtraConsequences } from './find-extra-consequences.ts';

type DerivedDependencies = PersonDependencies & FollowingDependencies;

const PERSONS_AT_ONCE = 16;

/**
 * The checks of the tables that follow from the log beside the read model. Verification and watch make the
 * same ones: on the way through the log, and at its end.
 */
export const compareDerived = async (
  dependencies: DerivedDependencies,
  stretch: Stretch,
): Promise<readonly DerivedFinding[]> => {
  const { isIndexed, isPlanned, hasPersons, isFollowed } = await readSchemas(dependencies.pool);
  const found = isIndexed ? [...(await compareIndex(dependencies, stretch))] : [];
  if (isFollowed) {
    found.push(...(await compareMemberships(dependencies, stretch.events)));
    found.push(...(await compareFollowing(dependencies, stretch.events)));
  }
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
  if (isIndexed) found.push(...(await compareDeliveries(dependencies, stretch.events)));
  for (const { stream, version } of stretch.events)
    if (version === FIRST && stream.startsWith(WEBHOOKS))
      found.push(...(await compareEndpoint(dependencies, stream)));
  return found;
};

/** Rows about events that are not in the log. The index, which is compared with the log, says which are. */
export const findRowsOfNoEvent = async (
  dependencies: DerivedDependencies & { readonly eventLog: EventLog },
): Promise<readonly DerivedFinding[]> => {
  const { isIndexed, isPlanned, isFollowed, hasPersons } = await readSchemas(dependencies.pool);
  if (!isIndexed) return [];
  return [
    ...(await findCheckpointsAhead(dependencies)),
    ...(await findUnlogged(dependencies, { isPlanned })),
    ...(hasPersons ? await findExtraPersons(dependencies) : []),
    ...(isFollowed ? await findExtraConsequences(dependencies) : []),
  ];
};

/** Other processes create them when they start for the first time. */
const readSchemas = async (pool: Pool): Promise<Schemas> => {
  const { rows } = await pool.query<Schemas>(
    `select to_regclass('event_index.moment') is not null and to_regclass('public.follower_checkpoint') is not null as "isIndexed",
       to_regclass('webhook_ledger.planning') is not null and to_regclass('public.follower_checkpoint') is not null as "isPlanned",
       to_regclass('auth.person') is not null and to_regclass('public.follower_checkpoint') is not null as "hasPersons",
       to_regclass('process_manager.membership') is not null and to_regclass('event_index.moment') is not null and to_regclass('public.follower_checkpoint') is not null as "isFollowed"`,
  );
  return rows[0] ?? { isIndexed: false, isPlanned: false, hasPersons: false, isFollowed: false };
};

type Schemas = Readonly<Record<'isIndexed' | 'isPlanned' | 'hasPersons' | 'isFollowed', boolean>>;

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

/** Persons whom no event registered, by the index; the log decides. */
const findExtraPersons = async (dependencies: DerivedDependencies): Promise<readonly DerivedFinding[]> => {
  const { rows } = await dependencies.pool.query<{ stream: StreamName }>(
    `select '${USERS}' || user_id as stream from auth.person p
     where not exists (select from event_index.event e where e.stream = '${USERS}' || p.user_id) limit ${LISTED_MAX}`,
  );
  const found = await Promise.all(rows.map(({ stream }) => comparePerson(dependencies, stream)));
  return found.flat();
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
  // Deliveries were planned of events that are said to be those of another installation.
  `select 'derived_extra', 'webhook_ledger.quiet', log::text, null
   from webhook_ledger.quiet q
   where log = $2 and exists (select from webhook_ledger.delivery d where d.position <= q.up_to_position and d.replay_id is null)`,
  // A replay is requested by an event, which has its id.
  `select 'derived_extra', 'webhook_ledger.replay', id::text, null
   from webhook_ledger.replay r
   where not exists (select from event_index.event e where e.stream = '${WEBHOOKS}' || r.webhook_id and e.type = 'webhook.replay_requested')
     and (select position from reached) >= (select max(position) from public.follower_checkpoint where follower = '${PLANNER}')`,
];
