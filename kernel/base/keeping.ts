import { StartRefused } from './start-refused.ts';

/** For how long something must be kept, by the calendar in UTC. */
export type Keeping = { readonly unit: 'day' | 'month' | 'year'; readonly count: number };

/** The field with the time from which an aggregate must be kept, and the timer that ends it afterwards. */
export const RETAINED_SINCE = 'retainedSince';
export const RETENTION = 'retention';

const YEARS_MAX = 200;
const MAX: Readonly<Record<Keeping['unit'], number>> = {
  day: YEARS_MAX * 365,
  month: YEARS_MAX * 12,
  year: YEARS_MAX,
};

export const keepingOf = (text: unknown, place: string): Keeping => {
  const [, number, unit = ''] = /^([1-9]\d{0,4}) (day|month|year)s?$/.exec(String(text)) ?? [];
  const count = Number(number);
  if (isUnit(unit) && count <= MAX[unit]) return { unit, count };
  throw new StartRefused(
    `${place} keeps it for “${String(text)}”: use a whole number of days, months or years, such as '10 years', up to ${YEARS_MAX} years.`,
  );
};

const isUnit = (unit: string): unit is Keeping['unit'] => Object.hasOwn(MAX, unit);

/** A day that the last month lacks becomes the first of the next, so that nothing is kept too shortly. */
export const keptUntilMs = (since: unknown, { unit, count }: Keeping): number => {
  const date = new Date(String(since));
  if (unit === 'day') return date.setUTCDate(date.getUTCDate() + count);
  const day = date.getUTCDate();
  const untilMs =
    unit === 'year'
      ? date.setUTCFullYear(date.getUTCFullYear() + count)
      : date.setUTCMonth(date.getUTCMonth() + count);
  return date.getUTCDate() === day ? untilMs : date.setUTCDate(1);
};
