import type { Position } from '#kernel/base/brands.ts';
import type { Membership } from '#kernel/decide/memberships.ts';
import type { Pool } from '#shared/database/pool.ts';
import { membershipText } from '#shared/process-manager/followers.ts';

/**
 * Records from which event on the children of each membership are noted, so that a verification knows which
 * rows there must be. Those of another declaration are noted no longer.
 */
export const declareMemberships = async (
  pool: Pool,
  memberships: readonly Membership[],
  afterPosition: Position,
): Promise<void> => {
  await pool.query(
    `with gone as (delete from process_manager.membership where meaning <> all($1))
     insert into process_manager.membership (meaning, after_position) select meaning, $2 from unnest($1::text[]) as m (meaning)
     on conflict do nothing`,
    [memberships.map(membershipText), afterPosition],
  );
};
