import pg from 'pg';

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

/** Every int8 of ours is a position, a version, or an id, and all of those are safe integers. */
const safeInteger = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`int8 ${text} is beyond the integers that a number holds exactly`);
  return value;
};

/** The driver’s own parsers, which return an int8 as text, except for int8 and days. */
export const typeParser = (oid: number): ((text: string) => unknown) => {
  if (oid === INT8) return safeInteger;
  if (oid === INT8_ARRAY) return safeIntegers;
  // A day has no time zone: the driver would make it midnight here.
  if (oid === DATE) return (text) => text;
  return pg.types.getTypeParser(oid, 'text');
};

export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    format === 'binary'
      ? pg.types.getTypeParser(oid, 'binary')
      : typeParser(oid)) as typeof pg.types.getTypeParser,
};

const textArray = pg.types.getTypeParser(INT8_ARRAY as typeof INT8, 'text') as (
  text: string,
) => readonly (string | null)[];

const safeIntegers = (text: string): (number | null)[] =>
  textArray(text).map((item) => (item === null ? null : safeInteger(item)));
