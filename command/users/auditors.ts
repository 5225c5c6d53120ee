import { AUDITOR, AUDITOR_UNTIL } from '#kernel/base/auditor.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { lastDayProblem } from '#shared/persons/last-day.ts';
import { profileOf } from './user.ts';

type Change = {
  readonly events: readonly AnnalsEvent[];
  readonly before: AggregateState;
  readonly after: AggregateState;
  /** When it happens. */
  readonly at: string;
};

/** An auditor has a last day, and nobody else does. Setting one that has passed ends their access. */
export const demandLastDay = ({ events, before, after, at }: Change): void => {
  const data = events.map((event): Readonly<Record<string, unknown>> => event.data);
  if (!data.some(({ role, [AUDITOR_UNTIL]: until }) => role !== undefined || until !== undefined)) return;
  const isGiven = data.some((each) => (each[AUDITOR_UNTIL] ?? null) !== null);
  const profile = profileOf(after);
  if (profile === undefined) return;
  const problem =
    profile.role === AUDITOR
      ? lastDayProblem(profile.auditorUntil, { at, mayBeOver: profileOf(before)?.role === AUDITOR })
      : isGiven
        ? 'Only an auditor has a last day: leave it out, or give the role auditor.'
        : undefined;
  if (problem === undefined) return;
  throw new Rejection('invalid_command', { errors: [{ pointer: `/${AUDITOR_UNTIL}`, detail: problem }] });
};
