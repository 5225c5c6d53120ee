import type { FieldFacts, KindFacts } from '../../domain-facts.ts';

const COLUMNS_MAX = 5;

/** What tells the most about an item in a list comes first. */
const ORDER: readonly FieldFacts['type'][] = ['states', 'ref', 'choice', 'integer', 'date', 'set', 'instant', 'boolean', 'text'];

/** The columns that matter, beside the title: so many as fit, without texts of several lines, and what all of them have in common. */
export const columnsOf = ({ fields, label }: Pick<KindFacts, 'fields' | 'label'>, common?: string): readonly FieldFacts[] =>
  fields
    .filter(({ name, type, hasLines }) => name !== label && name !== common && ORDER.includes(type) && !hasLines)
    .toSorted((one, other) => ORDER.indexOf(one.type) - ORDER.indexOf(other.type))
    .slice(0, COLUMNS_MAX);

/** `-publishedAt` is “Published at, latest first”. */
export const sortText = (sort: string, titleOf: (name: string) => string): string =>
  sort.startsWith('-') ? `${titleOf(sort.slice(1))}, latest first` : `${titleOf(sort)}, earliest first`;
