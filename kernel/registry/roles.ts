import { capital } from '../base/names.ts';
import type { Domain } from './registry.ts';

const roleOf = ({ kinds }: Domain) => kinds.user?.fields.role;

/** All roles that a user can have. */
export const rolesOf = (domain: Domain): readonly string[] => roleOf(domain)?.values ?? [];

/** The default role. */
export const leastRoleOf = (domain: Domain): string => String(roleOf(domain)?.initial);

/** The readable name of a role with its description. */
export const roleTextOf = (domain: Domain, role: string): string => {
  const means = roleOf(domain)?.means?.[role]?.replace(/\.$/, '');
  const name = role === 'admin' ? 'Administrator' : capital(role);
  return means === undefined ? name : `${name}: ${means.charAt(0).toLowerCase()}${means.slice(1)}`;
};
