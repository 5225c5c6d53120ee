import { createHash } from 'node:crypto';
import type { FieldDef } from '../declare/fields.ts';

/** By names that come from outside as well: there is nothing by the name of what every object has. */
export const byName = <T>(entries: Iterable<readonly [name: string, T]>): Record<string, T> =>
  Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
export const snake = (word: string): string =>
  word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** As events, forms and REST name it. */
export const wire = (name: string, def: FieldDef | undefined): string =>
  def?.kind === 'ref' ? `${name}Id` : name;
export const column = (name: string, def: FieldDef | undefined): string => snake(wire(name, def));
/** The items of a list, as GraphQL names them: `ClaimItem`. */
export const itemType = ({ type }: { readonly type: string }, { one }: { readonly one: string }): string =>
  `${type}${capital(one)}`;
export const targetOf = (def: FieldDef): string =>
  typeof def.target === 'string' ? def.target : (def.target?.kind ?? '');
/** `items` is one item, `entries` are one entry. */
export const singular = (word: string): string =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, '');
/** As people read it: `lineItem` and `line_item` are “line item”. */
export const spaced = (name: string): string => snake(name).replaceAll('_', ' ');
/** As addresses and scopes have it: `line-item`. */
export const kebab = (name: string): string => snake(name).replaceAll('_', '-');
/** `an article`, but `a user`. */
export const oneOf = (name: string): string =>
  `${/^(?!u[sn])[aeiou]/.test(name) ? 'an' : 'a'} ${spaced(name)}`;

/** What PostgreSQL keeps of a name. */
export const SQL_NAME_CHARACTERS_MAX = 63;
const HASH_CHARACTERS = 10;
/**
 * Of a function or an index that is called after something else: PostgreSQL cuts off what is too long, and
 * two would have one name.
 */
export const sqlName = (name: string): string => {
  if (name.length <= SQL_NAME_CHARACTERS_MAX) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
  return `${name.slice(0, SQL_NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hash}`;
};
