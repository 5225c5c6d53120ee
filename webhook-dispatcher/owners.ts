import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import type { UserId } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { Role } from '#shared/events/fields.ts';
import { streamName } from '#shared/events/streams.ts';
import type { Policy } from '#shared/policy.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import type { Owner } from './deliver/delivery.ts';
import type { PlannedEndpoint } from './endpoints.ts';

/** An owner with the rights of their role, as far as the token had them that decided what goes where. */
export const ownerOf = ({ ownerId, scopes }: Pick<PlannedEndpoint, 'ownerId' | 'scopes'>, role: Role, policy: Policy): Owner => ({
  kind: 'user',
  policy,
  userId: ownerId,
  role,
  scopes,
  client: null,
});

/**
 * The roles of owners as they are now; who is gone is left out. The role of one who is parked is not known: what they may know in any role
 * that people can have is planned, so that it is not lost, and nothing is sent until they can be read again.
 */
export const readRoles = async (
  database: Pool | Connection,
  domain: Domain,
  userIds: ReadonlySet<UserId>,
): Promise<ReadonlyMap<UserId, readonly Role[]>> => {
  if (userIds.size === 0) return new Map();
  const { rows } = await database.query<{ id: UserId; role: Role | null }>(
    `select id, role from ${LIVE_SCHEMA}.users where id = any($1) and deleted_at is null
     union all
     select split_part(stream, '-', 2)::bigint, null from ${LIVE_SCHEMA}.parked where stream = any($2)`,
    [[...userIds], [...userIds].map((id) => streamName('user', id))],
  );
  const any = rolesOf(domain).filter((role) => role !== 'admin');
  return new Map(rows.map(({ id, role }) => [id, role === null ? any : [role]]));
};
