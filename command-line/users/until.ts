import { day } from '#kernel/base/values.ts';
import { untilProblem } from '#shared/persons/invited-until.ts';
import type { Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import type { Terminal } from '../terminal.ts';

/** `--until` of an invitation. */
export const untilIn = (
  values: Given['values'],
  { domain, clock }: Pick<Terminal, 'domain' | 'clock'>,
  role: string,
): string | undefined => {
  const until = values.get('until')?.at(-1);
  demandDay(until);
  const problem = untilProblem(domain, { role, until }, clock.nowMs());
  if (problem !== undefined) throw new UsageError(`--until: ${problem}`);
  return until;
};

export const demandDay = (until: string | undefined): void => {
  if (until !== undefined && !day.safeParse(until).success)
    throw new UsageError(`--until must be a day such as 2027-03-31, but is “${until}”`);
};
