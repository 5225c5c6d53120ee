/** A part of the calendar, in UTC. */
export type Period = 'day' | 'week' | 'month';

const DAY_MS = 86_400_000;
const DAY_CHARACTERS = '2026-01-31'.length;
const MONTH_CHARACTERS = '2026-01'.length;

/** The period that contains a day, or a time in UTC: `2026-01-31`, `2026-W05` or `2026-01`. */
export const periodOf = (period: Period, at: string): string => {
  switch (period) {
    case 'day':
      return at.slice(0, DAY_CHARACTERS);
    case 'week':
      return weekOf(at.slice(0, DAY_CHARACTERS));
    case 'month':
      return at.slice(0, MONTH_CHARACTERS);
  }
};

/** ISO 8601: a week begins on Monday, and belongs to the year of its Thursday. */
const weekOf = (day: string): string => {
  const at = new Date(`${day}T00:00:00.000Z`);
  const thursday = new Date(at.getTime() + (3 - ((at.getUTCDay() + 6) % 7)) * DAY_MS);
  const newYear = new Date(thursday);
  newYear.setUTCMonth(0, 1);
  const week = Math.floor((thursday.getTime() - newYear.getTime()) / (7 * DAY_MS)) + 1;
  return `${String(thursday.getUTCFullYear()).padStart(4, '0')}-W${String(week).padStart(2, '0')}`;
};
