import { createHash } from 'node:crypto';

/** The part of a declared field that its names follow from. */
type FieldDef = { readonly kind: string; readonly target?: { readonly kind: string } | string };

/** A record without prototype, because keys come from outside: inherited names find nothing. */
export const byName = <T>(entries: Iterable<readonly [name: string, T]>): Record<string, T> =>
  Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
export const snake = (word: string): string =>
  word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** The name in events, forms and REST. */
export const wire = (name: string, def: FieldDef | undefined): string =>
  def?.kind === 'ref' ? `${name}Id` : name;
export const column = (name: string, def: FieldDef | undefined): string => snake(wire(name, def));
/** The GraphQL type of the items of a list: `ClaimItem`. */
export const itemType = ({ type }: { readonly type: string }, { one }: { readonly one: string }): string =>
  `${type}${capital(one)}`;
export const targetOf = (def: FieldDef): string =>
  typeof def.target === 'string' ? def.target : (def.target?.kind ?? '');
/** One of `items` is an item, one of `entries` is an entry. */
export const singular = (word: string): string =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, '');
/** The readable form: `lineItem` and `line_item` become “line item”. */
export const spaced = (name: string): string => snake(name).replaceAll('_', ' ');
/** The form in paths and scopes: `line-item`. */
export const kebab = (name: string): string => snake(name).replaceAll('_', '-');
/** For example `an article` and `a user`. */
export const oneOf = (name: string): string =>
  `${/^(?!u[sn])[aeiou]/.test(name) ? 'an' : 'a'} ${spaced(name)}`;

/** PostgreSQL truncates names to this length. */
export const SQL_NAME_CHARACTERS_MAX = 63;
const HASH_CHARACTERS = 10;
/**
 * The name of a function or an index that contains another name. PostgreSQL would truncate long ones, and two
 * could become equal.
 */
export const sqlName = (name: string): string => {
  if (name.length <= SQL_NAME_CHARACTERS_MAX) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
  return `${name.slice(0, SQL_NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hash}`;
};
