import type { Role } from '#shared/events/fields.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';
import type { Link } from '#shared/rest/fields.ts';

export type UserRow = {
  readonly id: number;
  readonly version: number;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** A user as one caller sees them: everybody the name, the rest who may. */
export const representUser = (row: UserRow, caller: Caller) => ({
  id: row.id,
  name: row.name,
  ...(may(caller, 'user.read_private', userResource(row)) && {
    email: row.email,
    role: row.role,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }),
  _links: linksOf(row, caller),
});

export const userResource = ({ id }: UserRow): Resource => ({ fields: { id } });

const linksOf = (row: UserRow, caller: Caller): Record<string, Link> => {
  const self = `/users/${row.id}`;
  return {
    self: { href: self },
    ...(may(caller, 'events.read', {}) && { history: { href: `${self}/history` } }),
    ...(may(caller, 'article.read', { fields: { status: 'published' } }) && { articles: { href: `${self}/articles` } }),
    ...(may(caller, 'user.update', userResource(row)) && { edit: { href: self, method: 'PATCH' } }),
    ...(may(caller, 'user.delete', userResource(row)) && { delete: { href: self, method: 'DELETE' } }),
  };
};
