import { AUDITOR, AUDITOR_UNTIL } from '../base/auditor.ts';
import { capital } from '../base/names.ts';
import type { Operation } from '../base/operation.ts';
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

type WithAuditors = Pick<Domain, 'auditors'>;

/** Whether the role is that of auditors, with the rights that the kernel gives it. */
export const isAuditorRole = ({ auditors }: WithAuditors, role: string): boolean =>
  auditors === true && role === AUDITOR;

/** The roles whose rights the kernel decides: nobody gets them by signing up, by a message or for a service. */
export const isRoleOfKernel = (domain: WithAuditors, role: string): boolean =>
  role === 'admin' || isAuditorRole(domain, role);

/**
 * The right to see what another one lets manage. In a domain with auditors it is a right of its own, which they
 * have without the other.
 */
export const seeing = ({ auditors }: WithAuditors, managing: Operation): Operation =>
  auditors === true ? `${managing}.read` : managing;

const DAY_MS = 86_400_000;

type Attributes = Readonly<Record<string, unknown>>;

/** When the access of a user ends: that of an auditor after their last day. Without one, it never began. */
export const endOfAccessMs = (
  domain: WithAuditors,
  { role, attributes }: { readonly role: string; readonly attributes?: Attributes | null | undefined },
): number | undefined => {
  if (!isAuditorRole(domain, role)) return undefined;
  const until = attributes?.[AUDITOR_UNTIL];
  const endMs = typeof until === 'string' ? Date.parse(`${until}T00:00:00Z`) + DAY_MS : 0;
  return Number.isNaN(endMs) ? 0 : endMs;
};
