import type { UserId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isAuditorRole, isRoleOfKernel, rolesOf } from '#kernel/registry/roles.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Caller, Policy } from '#shared/policy.ts';
import { attributesSql, type RoleAndAttributes } from '#shared/role-and-attributes.ts';
import type { PlannedEndpoint } from '#shared/webhooks/planned-endpoint.ts';

/** By id, the roles in which each may be. */
export type Owners = ReadonlyMap<UserId, readonly RoleAndAttributes[] | 'any'>;

/**
 * An owner with the rights of the role and attributes, limited to the scopes that decided the destination.
 */
export const ownerOf = (
  { ownerId, scopes }: Pick<PlannedEndpoint, 'ownerId' | 'scopes'>,
  { role, attributes }: RoleAndAttributes,
  policy: Policy,
): Extract<Caller, { readonly kind: 'user' }> => ({
  kind: 'user',
  policy,
  userId: ownerId,
  role,
  ...(attributes && { attributes }),
  // Deliveries from before the owner became an auditor show no more than everybody may read.
  scopes: isAuditorRole(policy.domain, role) ? NO_SCOPES : scopes,
  client: null,
});

const NO_SCOPES: ReadonlySet<string> = new Set();

/**
 * The present owners; deleted ones are missing, and so are auditors, whose access ends. The role of a parked owner
 * is unknown: everything that any role may read is planned, so that nothing is lost, and nothing is sent until the
 * owner can be read again. Attributes may have any value then, so rights that depend on them count as granted.
 */
export const readOwners = async (
  database: Pool | Connection,
  domain: Domain,
  userIds: ReadonlySet<UserId>,
): Promise<Owners> => {
  if (userIds.size === 0) return new Map();
  const { rows } = await database.query<{ id: UserId } & (RoleAndAttributes | { role: null })>(
    `select id, role, ${attributesSql(domain, 'users')} as attributes from ${LIVE_SCHEMA}.users where id = any($1) and deleted_at is null
     union all
     select split_part(stream, '-', 2)::bigint, null, null from ${LIVE_SCHEMA}.parked where stream = any($2)`,
    [[...userIds], [...userIds].map((id) => streamName('user', id))],
  );
  const roles = rolesOf(domain).filter((role) => !isRoleOfKernel(domain, role));
  const any = attributesOf(domain).length > 0 ? 'any' : roles.map((role) => ({ role }));
  const present = rows.filter(({ role }) => role === null || !isAuditorRole(domain, role));
  return new Map(present.map(({ id, ...standing }) => [id, standing.role === null ? any : [standing]]));
};
