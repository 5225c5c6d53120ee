import { capital } from './names.ts';
import type { Domain } from './registry.ts';

const roleOf = ({ kinds }: Domain) => kinds.user?.fields.role;

/** What users can be. */
export const rolesOf = (domain: Domain): readonly string[] => roleOf(domain)?.values ?? [];

/** What users are unless it is said. */
export const leastRoleOf = (domain: Domain): string => String(roleOf(domain)?.initial);

/** As people read it, with what it means. */
export const roleTextOf = (domain: Domain, role: string): string => {
  const means = roleOf(domain)?.means?.[role]?.replace(/\.$/, '');
  const name = role === 'admin' ? 'Administrator' : capital(role);
  return means === undefined ? name : `${name}: ${means.charAt(0).toLowerCase()}${means.slice(1)}`;
};
