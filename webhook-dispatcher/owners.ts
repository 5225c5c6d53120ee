import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import type { UserId } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { streamName } from '#shared/events/streams.ts';
import type { Policy } from '#shared/policy.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import { attributesSql, type Standing } from '#shared/standing.ts';
import type { Owner } from './deliver/delivery.ts';
import type { PlannedEndpoint } from './endpoints.ts';

/** By their ids, in which of these they may be. */
export type Owners = ReadonlyMap<UserId, readonly Standing[] | 'any'>;

/**
 * An owner with the rights of their role and their attributes, as far as the token had them that decided what
 * goes where.
 */
export const ownerOf = (
  { ownerId, scopes }: Pick<PlannedEndpoint, 'ownerId' | 'scopes'>,
  { role, attributes }: Standing,
  policy: Policy,
): Owner => ({
  kind: 'user',
  policy,
  userId: ownerId,
  role,
  ...(attributes && { attributes }),
  scopes,
  client: null,
});

/**
 * What owners are now; who is gone is left out. What one is who is parked is not known: what they may know in
 * any role that people can have is planned, so that it is not lost, and nothing is sent until they can be
 * read again. Their attributes may be any, and so all is planned that rights may tell them by those.
 */
export const readOwners = async (
  database: Pool | Connection,
  domain: Domain,
  userIds: ReadonlySet<UserId>,
): Promise<Owners> => {
  if (userIds.size === 0) return new Map();
  const { rows } = await database.query<{ id: UserId } & (Standing | { role: null })>(
    `select id, role, ${attributesSql(domain, 'users')} as attributes from ${LIVE_SCHEMA}.users where id = any($1) and deleted_at is null
     union all
     select split_part(stream, '-', 2)::bigint, null, null from ${LIVE_SCHEMA}.parked where stream = any($2)`,
    [[...userIds], [...userIds].map((id) => streamName('user', id))],
  );
  const roles = rolesOf(domain).filter((role) => role !== 'admin');
  const any = attributesOf(domain).length > 0 ? 'any' : roles.map((role) => ({ role }));
  return new Map(rows.map(({ id, ...standing }) => [id, standing.role === null ? any : [standing]]));
};
