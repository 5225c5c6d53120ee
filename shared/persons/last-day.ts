/** Leap years have one more. */
const DAYS_MAX = 366;
const DAY_MS = 86_400_000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;

type Asked = {
  /** When it is given, as an instant. */
  readonly at: string;
  /** Whether it may have passed, which ends the access of somebody who is an auditor already. */
  readonly mayBeOver?: boolean;
};

/** The sentence that refuses the last day of an auditor, in UTC; undefined if it is right. */
export const lastDayProblem = (
  day: string | null | undefined,
  { at, mayBeOver = false }: Asked,
): string | undefined => {
  if (day === null || day === undefined) return 'An auditor needs a last day, such as 2027-03-31.';
  const latest = dayOf(Date.parse(at) + DAYS_MAX * DAY_MS);
  if (day > latest)
    return `The last day of an auditor must be at most a year ahead, so ${latest} at the latest.`;
  if (!mayBeOver && day < dayOf(Date.parse(at)))
    return 'The last day of an auditor has passed already: name today or a later day.';
  return undefined;
};

const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, DAY_LENGTH);
