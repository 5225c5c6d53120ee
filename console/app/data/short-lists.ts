import type { FieldFacts, KindFacts } from '../../domain-facts.ts';

/** The maximum number of items that the browser orders and filters by fields by which the server does not. */
export const SHORT_MAX = 100;

/** Names in addresses that no field and no parameter of the server has. */
const ORDER = 'here';
const PREFIX = `${ORDER}.`;

export const isOfBrowser = (name: string): boolean => name === ORDER || name.startsWith(PREFIX);
export const nameOfFilter = ({ name }: FieldFacts): string => PREFIX + name;
export const NAME_OF_ORDER = ORDER;

type Lists = Pick<KindFacts, 'fields' | 'list'>;

/** The fields that only the browser can filter by. A filter by one word of a set has a name of its own. */
export const filteredHere = ({ fields, list: { filters } }: Lists): readonly FieldFacts[] =>
  fields.filter(({ title, type }) => type !== 'upload' && !filters.some((filter) => filter.title === title));

type Narrowing = {
  readonly filters: readonly { readonly field: FieldFacts; readonly value: string }[];
  readonly order: string;
};

/** The order and the filters that the address asks of the browser; undefined if none. */
export const narrowingIn = (kind: Lists, search: URLSearchParams): Narrowing | undefined => {
  const order = search.get(ORDER) ?? '';
  const filters = filteredHere(kind).flatMap((field) => {
    const value = search.get(nameOfFilter(field));
    return value === null ? [] : [{ field, value }];
  });
  return order === '' && filters.length === 0 ? undefined : { filters, order };
};

type Row = Readonly<Record<string, unknown>>;

/** The items that match, in the order asked for; equal ones as they were. Items without a value come last. */
export const narrowed = <Item extends Row>(
  items: readonly Item[],
  { filters, order }: Narrowing,
): readonly Item[] => {
  const kept = items.filter((item) =>
    filters.every(({ field, value }) => matches(field, item[field.name], value)),
  );
  if (order === '') return kept;
  const name = order.replace(/^-/, '');
  const sign = order.startsWith('-') ? -1 : 1;
  return kept.toSorted((one, other) => compare(comparable(one[name]), comparable(other[name]), sign));
};

const matches = ({ type }: FieldFacts, value: unknown, sought: string): boolean => {
  if (value === null || value === undefined) return false;
  if (type === 'ref') return String(idOf(value)) === sought;
  if (type === 'integer' || type === 'boolean' || type === 'choice' || type === 'states')
    return String(value) === sought;
  if (type === 'date' || type === 'instant') return String(value).startsWith(sought);
  return String(value).toLowerCase().includes(sought.toLowerCase());
};

const idOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { readonly id?: unknown }).id : value;

/** A reference is ordered by its name. */
const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? null : value.join();
  if (typeof value !== 'object' || value === null) return value ?? null;
  const { id, ...label } = value as Readonly<Record<string, unknown>>;
  return Object.values(label).find((text) => typeof text === 'string') ?? id;
};

const compare = (one: unknown, other: unknown, sign: number): number => {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === 'string' && typeof other === 'string')
    return sign * one.localeCompare(other, undefined, { numeric: true, sensitivity: 'base' });
  return sign * (Number(one) - Number(other));
};

/** The order that the head of a column asks for next: upwards, downwards, none. */
export const nextOrder = (name: string, order: string): string =>
  order === name ? `-${name}` : order === `-${name}` ? '' : name;
