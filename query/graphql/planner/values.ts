import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../rules/list-limits.ts';
import { OutOfPlan } from './out-of-plan.ts';

/** Checks of arguments. A bad one is left to the resolvers, which report it at its field. */

/** Null means the default. */
export const pageSize = (value: unknown): number => {
  const size = value ?? LIST_LIMIT_DEFAULT;
  if (typeof size !== 'number' || size < 0 || size > LIST_LIMIT_MAX)
    throw new OutOfPlan('a limit out of range');
  return size;
};

/** Text that PostgreSQL can store. */
export const storableText = (value: unknown): string => {
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0'))
    throw new OutOfPlan('text that cannot be stored');
  return value;
};

/** Numbers and booleans have their types already. */
export const storableValue = (value: unknown): string | number | boolean =>
  typeof value === 'number' || typeof value === 'boolean' ? value : storableText(value);

const SEARCH_CHARACTERS_MAX = 200;

export const searchText = (value: unknown): string => {
  const text = storableText(value);
  if (text === '' || text.length > SEARCH_CHARACTERS_MAX)
    throw new OutOfPlan('a search that is too long or empty');
  // The index has the same normal form; a letter may have several encodings.
  return text.normalize('NFC');
};
