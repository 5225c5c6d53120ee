type Values = Readonly<Record<string, unknown>>;
type IsTaken = (value: unknown) => boolean;

/**
 * The rows with a value that PostgreSQL might refuse in its column. A value is certain if the value alone
 * shows it, so that hardly any row has to be checked by the database; anything unknown here is doubtful.
 */
export const doubtfulAmong = (
  columns: Readonly<Record<string, string>>,
  rows: readonly Values[],
): readonly Values[] => rows.filter((row) => !isCertain(columns, row));

const isCertain = (columns: Readonly<Record<string, string>>, row: Values): boolean => {
  for (const name in row) {
    const value = row[name];
    // A column may be `not null`, but the columns of a row that is only checked are not.
    if (value === null || value === undefined) continue;
    const type = columns[name];
    if (type !== undefined && TAKEN[type]?.(value) !== true) return false;
  }
  return true;
};

const INTEGER_MAX = 2 ** 31 - 1;

/** By the type of a column. Every decoded text is valid for PostgreSQL too. */
const TAKEN: Readonly<Record<string, IsTaken | undefined>> = {
  text: (value) => typeof value === 'string',
  'text[]': (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  boolean: (value) => typeof value === 'boolean',
  bigint: Number.isSafeInteger,
  integer: (value) => Number.isInteger(value) && Math.abs(value as number) <= INTEGER_MAX,
  numeric: Number.isFinite,
  timestamptz: (value) => typeof value === 'string' && isMoment(value),
};

/** RFC 3339 has a year 0, and PostgreSQL has not. */
const MOMENT = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-[0-3]\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/;

/** The offset of the day in it. */
const DAY = 'YYYY-MM-'.length;

/** JavaScript rolls a day beyond the end of a month over to the next one, but PostgreSQL refuses it. */
const isMoment = (text: string): boolean => {
  if (!MOMENT.test(text)) return false;
  const day = text.slice(DAY, DAY + 2);
  return day <= '28' ? day > '00' : new Date(text).getUTCDate() === Number(day);
};
