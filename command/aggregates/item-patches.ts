import type { JsonObject } from '#kernel/base/json.ts';
import type { JsonPatch } from '#kernel/base/json-patch.ts';
import { targetOf, wire } from '#kernel/base/names.ts';
import { fieldsOfItem } from '#kernel/conditions/expression.ts';
import { contentSchema } from '#kernel/decide/forms.ts';
import { itemsOf } from '#kernel/decide/items.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { CommandInfo, Domain, ListInfo, Row } from '#kernel/registry/registry.ts';
import { changesByPatch } from '../handling/patch-content.ts';

/**
 * The edit’s form that results from a JSON patch. Without an aggregate or item the form is empty, and the
 * decider gives the reason.
 */
export type FormByPatch = (patch: JsonPatch, state: AggregateState, given: Row) => Row;

/** The form of a change of the item that the command names. */
export const patchesOfItem = (domain: Domain, { itemForm }: CommandInfo, list: ListInfo): FormByPatch => {
  const { id, key } = list;
  const schema = contentSchema(list.fields, itemForm);
  const content = itemForm.map((name) => [name, wire(name, list.fields[name])] as const);
  const rest = Object.entries(fieldsOfItem(list)).filter(([name]) => !itemForm.includes(name));
  const references = rest.filter(([, def]) => def.kind === 'ref');
  const moments = rest.filter(([, def]) => def.kind === 'instant').map(([name]) => `/${name}`);
  const flat = rest.filter(([, def]) => def.kind !== 'ref' && def.kind !== 'instant');
  const labels = references.map(([name, def]) => `/${name}/${domain.kinds[targetOf(def)]?.label ?? ''}`);
  return (patch, state, given) => {
    const named = { [id.name]: given[id.name] };
    const item =
      state.status === 'present'
        ? itemsOf(state.fields, list).find((each) => each.id === given[id.name])
        : undefined;
    if (item === undefined) return named;
    const document = {
      content: Object.fromEntries(content.map(([name, to]) => [to, item[name]])) as JsonObject,
      fixed: {
        ...(key === undefined && { id: item.id }),
        ...Object.fromEntries(flat.map(([name, def]) => [wire(name, def), item[name]])),
        ...Object.fromEntries(references.map(([name]) => [name, { id: item[name] }])),
      } as JsonObject,
      unknown: [...labels, ...moments, '/createdAt', '/updatedAt', '/_links'],
    };
    return { ...changesByPatch(schema, document, patch), ...named };
  };
};
