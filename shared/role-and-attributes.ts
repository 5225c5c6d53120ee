import type { Role } from '#kernel/base/events/fields.ts';
import { type Attribute, attributesOf } from '#kernel/conditions/attributes.ts';
import type { Attributes } from '#kernel/conditions/holds.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';

/** The properties of a user that rights compare. */
export type RoleAndAttributes = { readonly role: Role; readonly attributes?: Attributes | null };

/** The attributes of a row of users as one value; null in a domain whose rights compare none. */
export const attributesSql = (domain: Domain, row: string): string => {
  const pairs = attributesOf(domain).map(({ name, column }) => `'${name}', ${row}.${column}`);
  return pairs.length === 0 ? 'null' : `json_build_object(${pairs.join(', ')})`;
};

/** From a row of users, by its columns. */
export const roleAndAttributesOf = (domain: Domain, row: Row): RoleAndAttributes => ({
  role: String(row.role),
  ...withAttributes(valuesOf(domain, ({ column }) => row[column])),
});

/** From the state of a user. */
export const roleAndAttributesIn = (domain: Domain, state: Row): RoleAndAttributes => ({
  role: String(state.role),
  ...withAttributes(valuesOf(domain, ({ name }) => state[name])),
});

const valuesOf = (domain: Domain, read: (attribute: Attribute) => unknown): Attributes =>
  Object.fromEntries(
    attributesOf(domain).map((each) => [each.name, (read(each) ?? null) as Attributes[string]]),
  );

const withAttributes = (attributes: Attributes): { readonly attributes?: Attributes } =>
  Object.keys(attributes).length === 0 ? {} : { attributes };
