import type { Domain } from '#kernel/registry/registry.ts';
import { isRoleOfKernel, rolesOf } from '#kernel/registry/roles.ts';
import { ConfigError } from './read-settings.ts';

/** The role of users who sign up by themselves: the operator’s setting, or else the domain’s default. */
export const signUpRoleOf = (domain: Domain, setting: string | undefined): string => {
  const role = setting ?? domain.signUp;
  const roles = rolesOf(domain).filter((each) => !isRoleOfKernel(domain, each));
  if (role === 'off' || roles.includes(role)) return role;
  throw new ConfigError([
    `SIGNUP is ${role}, but must be off or a role of ${domain.name}: ${roles.join(', ')}.`,
  ]);
};
