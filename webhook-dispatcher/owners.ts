import type { UserId } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { Role } from '#shared/events/fields.ts';
import { streamName } from '#shared/events/streams.ts';
import { SCOPES } from '#shared/policy.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import type { Owner } from './deliver/delivery.ts';

const ALL_SCOPES: ReadonlySet<string> = new Set(SCOPES);

/** An owner with the rights of their role: no token of theirs narrows what is sent to them. */
export const ownerOf = (userId: UserId, role: Role): Owner => ({ kind: 'user', userId, role, scopes: ALL_SCOPES, client: null });

/**
 * Owners as they are now; who is gone is left out. Of one who is parked the role is not known: what they may know as an author is planned,
 * so that it is not lost, and nothing is sent until they can be read again.
 */
export const readOwners = async (database: Pool | Connection, userIds: ReadonlySet<UserId>): Promise<ReadonlyMap<UserId, Owner>> => {
  if (userIds.size === 0) return new Map();
  const { rows } = await database.query<{ id: UserId; role: Role }>(
    `select id, role from ${LIVE_SCHEMA}.users where id = any($1) and deleted_at is null
     union all
     select split_part(stream, '-', 2)::bigint, 'author' from ${LIVE_SCHEMA}.parked where stream = any($2)`,
    [[...userIds], [...userIds].map((id) => streamName('user', id))],
  );
  return new Map(rows.map(({ id, role }) => [id, ownerOf(id, role)]));
};
