import type { Domain } from '#kernel/registry/registry.ts';
import { isAuditorRole } from '#kernel/registry/roles.ts';
import { lastDayProblem } from './last-day.ts';

type Invited = { readonly role: string; readonly until?: string | undefined };

/** The sentence that refuses the last day of an invitation: one of an auditor has it, and others do not. */
export const untilProblem = (domain: Domain, { role, until }: Invited, nowMs: number): string | undefined => {
  if (isAuditorRole(domain, role)) return lastDayProblem(until, { at: new Date(nowMs).toISOString() });
  return until === undefined
    ? undefined
    : 'Only an auditor has a last day: leave it out, or invite an auditor.';
};
