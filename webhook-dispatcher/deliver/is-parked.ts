import type { StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { wire } from '#kernel/base/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';

/**
 * Returns whether the aggregate of a change, or its parent, is parked: then nobody can read it until an
 * operator acts.
 */
export type IsParked = (change: Change) => Promise<boolean>;

export const createIsParked = (domain: Domain, pool: Pick<Pool, 'query'>): IsParked => {
  const catalogue = catalogueOf(domain);
  const { kinds } = visibilityOf(domain);
  const parentsOf = ({ stream, data }: Change): readonly StreamName[] => {
    const kind = domain.kinds[catalogue.kindOf(stream) ?? ''];
    return [...(kinds.get(kind?.name ?? '')?.parents ?? [])].flatMap(([reference, parent]) => {
      const id = data[wire(reference, kind?.fields[reference])];
      return typeof id === 'number' ? [streamName(parent.kind, id)] : [];
    });
  };
  return async (change) => {
    const { rowCount } = await pool.query(`select from ${LIVE_SCHEMA}.parked where stream = any($1)`, [
      [change.stream, ...parentsOf(change)],
    ]);
    return rowCount !== 0;
  };
};
