import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../list-limits.ts';
import { OutOfPlan } from './out-of-plan.ts';

/** Checks of arguments. What must be refused is left to the resolvers, which say so at the field. */

/** Null means the same as nothing. */
export const pageSize = (value: unknown): number => {
  const size = value ?? LIST_LIMIT_DEFAULT;
  if (typeof size !== 'number' || size < 0 || size > LIST_LIMIT_MAX)
    throw new OutOfPlan('a limit out of range');
  return size;
};

/** Text that PostgreSQL can hold. */
export const storableText = (value: unknown): string => {
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0'))
    throw new OutOfPlan('text that cannot be stored');
  return value;
};

/** Numbers and truths are of their types already. */
export const storableValue = (value: unknown): string | number | boolean =>
  typeof value === 'number' || typeof value === 'boolean' ? value : storableText(value);

const SEARCH_CHARACTERS_MAX = 200;

export const searchText = (value: unknown): string => {
  const text = storableText(value);
  if (text === '' || text.length > SEARCH_CHARACTERS_MAX)
    throw new OutOfPlan('a search that is too long or empty');
  // As the index is; the same letter can be written in several ways.
  return text.normalize('NFC');
};
