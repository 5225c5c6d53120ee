import type { FieldFacts, KindFacts } from '../../domain-facts.ts';

const COLUMNS_MAX = 5;

/** The most informative types come first. */
const ORDER: readonly FieldFacts['type'][] = [
  'states',
  'ref',
  'choice',
  'integer',
  'date',
  'set',
  'instant',
  'boolean',
  'text',
];

/** The columns that every kind has. */
const CREATED: FieldFacts = { name: 'createdAt', wire: 'createdAt', title: 'Created', type: 'instant' };
const CHANGED: FieldFacts = { name: 'updatedAt', wire: 'updatedAt', title: 'Changed', type: 'instant' };

type Fields = Pick<KindFacts, 'fields' | 'label'>;

/** The fields that can be columns: no long texts, and nothing that all items share. */
const fitting = ({ fields, label }: Fields, common?: string): readonly FieldFacts[] =>
  fields
    .filter(
      ({ name, type, hasLines }) => name !== label && name !== common && ORDER.includes(type) && !hasLines,
    )
    .toSorted((one, other) => ORDER.indexOf(one.type) - ORDER.indexOf(other.type));

/** The most informative columns, as many as fit. */
export const columnsOf = (kind: Fields, common?: string): readonly FieldFacts[] => [
  ...fitting(kind, common).slice(0, COLUMNS_MAX),
  CHANGED,
];

export const choosableOf = (kind: Fields): readonly FieldFacts[] => [...fitting(kind), CREATED, CHANGED];

/** The columns in the address, or the default. */
export const chosenColumns = (kind: Fields, given: string | null): readonly FieldFacts[] =>
  given === null ? columnsOf(kind) : choosableOf(kind).filter(({ name }) => given.split(',').includes(name));

type Sorted = { readonly state: 'ascending' | 'descending' | 'none'; readonly next: string };

/**
 * The current order by a column, and the one that its head links to; undefined if the list cannot be ordered
 * by it.
 */
export const sortedBy = (
  { name, wire }: FieldFacts,
  sorts: readonly string[],
  sort: string | undefined,
): Sorted | undefined => {
  const own = sorts.filter((each) => [name, wire].includes(each.replace(/^-/, '')));
  const at = own.indexOf(sort ?? '');
  const next = own[(at + 1) % own.length];
  if (next === undefined) return undefined;
  return { state: at === -1 ? 'none' : sort?.startsWith('-') ? 'descending' : 'ascending', next };
};

/** `-publishedAt` is “Published at, latest first”. */
export const sortText = (sort: string, titleOf: (name: string) => string): string =>
  sort.startsWith('-') ? `${titleOf(sort.slice(1))}, latest first` : `${titleOf(sort)}, earliest first`;
