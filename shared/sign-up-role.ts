import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { ConfigError } from './process/config.ts';

/** What people become who create an account for themselves: as the operator says, or else the domain. */
export const signUpRoleOf = (domain: Domain, setting: string | undefined): string => {
  const role = setting ?? domain.signUp;
  const roles = rolesOf(domain).filter((each) => each !== 'admin');
  if (role === 'off' || roles.includes(role)) return role;
  throw new ConfigError([
    `SIGNUP is ${role}, and must be off or a role of ${domain.name}: ${roles.join(', ')}.`,
  ]);
};
