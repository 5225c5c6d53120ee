import { type Membership, membershipText } from '#kernel/decide/memberships.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

type Declaring = { readonly pool: Pool; readonly memberships: readonly Membership[] };

const declared = new WeakSet<readonly Membership[]>();

/**
 * Records from which event on the children of each membership are noted, so that a verification knows which
 * rows there must be. Those of another declaration are noted no longer.
 */
export const declareOnce = async (
  { pool, memberships }: Declaring,
  events: readonly RecordedEvent[],
): Promise<void> => {
  const [first] = events;
  if (first === undefined || declared.has(memberships)) return;
  await pool.query(
    `with gone as (delete from process_manager.membership where meaning <> all($1))
     insert into process_manager.membership (meaning, after_position) select meaning, $2::bigint - 1 from unnest($1::text[]) as m (meaning)
     on conflict do nothing`,
    [memberships.map(membershipText), first.position],
  );
  declared.add(memberships);
};
