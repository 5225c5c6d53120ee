import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { PLANNER } from '#shared/webhooks/planned-endpoint.ts';
import { WEBHOOKS } from './compare-endpoint.ts';

type Dependencies = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'identity'> };

const LISTED_MAX = 100;

/**
 * Rows that no event of the log explains, by the index of events. Rows beyond the index cannot be compared
 * yet, except those of the index itself, which moves with its checkpoint.
 */
export const findUnlogged = async (
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
