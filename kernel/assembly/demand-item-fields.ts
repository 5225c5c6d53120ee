import type { FieldDef } from '../declare/fields.ts';
import type { ListInfo } from '../registry/registry.ts';
import { PARAMETERS } from './demand-names.ts';
import { isErasedToAnother, isNeverGiven } from './demand-supported.ts';

const CHILDREN = 'declare an aggregate with a parent instead of the list';
/** Each with its remedy. */
export const unsupportedOf = (def: FieldDef): readonly string[] => [
  ...(def.kind === 'list' ? [`a list of its own, which items cannot have: ${CHILDREN}.`] : []),
  // Erasure would remove the address and keep the file.
  ...(def.kind === 'upload' && def.personal !== undefined
    ? ['personal(), which no upload can be: remove it; files go with their aggregate.']
    : []),
  ...(isNeverGiven(def) ? ['an upload that no new item can have yet: make it optional().'] : []),
  ...(isErasedToAnother(def) ? ['the option `erased`, which a date cannot show: remove the option.'] : []),
  ...(def.unique
    ? [`unique(), which only fields of aggregates can be: make it the \`key\` of the list, or ${CHILDREN}.`]
    : []),
  ...(def.filter && (def.kind === 'list' || def.kind === 'upload')
    ? ['filter(), which lists and pictures cannot have: remove it.']
    : []),
  ...(def.sort
    ? [`sort(), which only fields of aggregates can have: make the list \`ordered\`, or ${CHILDREN}.`]
    : []),
  ...(def.search ? [`search(), which only fields of aggregates can have: ${CHILDREN}, or remove it.`] : []),
];

export const wrongFiltersOf = ({ key, id, fields }: ListInfo): readonly string[] => {
  const all = [...Object.entries(fields), ...(key === undefined ? [] : [[key, id.def] as const])];
  const names = all.flatMap(([name, { filter }]) => (filter ? [filter === true ? name : filter] : []));
  return names.flatMap((name, index) =>
    PARAMETERS.has(name) || names.indexOf(name) < index
      ? [`has the filter ${name}, which is a parameter of every list or belongs to two fields: rename it.`]
      : [],
  );
};
