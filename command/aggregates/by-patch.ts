import type { JsonObject } from '#kernel/base/json.ts';
import type { JsonPatch } from '#kernel/base/json-patch.ts';
import { targetOf, wire } from '#kernel/base/names.ts';
import { partRightsOf } from '#kernel/conditions/parts-of.ts';
import { contentSchema } from '#kernel/decide/forms.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { changesByPatch, namesWhole, revealsContent } from '../handling/patch-content.ts';
import type { FormOn } from './form-on.ts';
import { type FormByPatch, patchesOfItem } from './item-patches.ts';

/** The form of an edit by JSON patch. */
export const formByPatch = (domain: Domain, kind: Kind, command: CommandInfo): FormOn => {
  const { list } = command;
  const formOf = list === undefined ? patchesOf(domain, kind, command) : patchesOfItem(domain, command, list);
  const toParts = partRightsOf(kind).flatMap(({ name, fields }) => (fields.length > 0 ? [name] : []));
  return (given, state, demandTo) => {
    const patch = given.patch as JsonPatch;
    // The rights to the parts that the patch names were checked already; the whole document contains all
    // parts.
    if (revealsContent(patch))
      for (const right of ['read', ...(namesWhole(patch) ? toParts : [])]) demandTo(right);
    return formOf(patch, state, given);
  };
};

const patchesOf = (domain: Domain, kind: Kind, edit: CommandInfo): FormByPatch => {
  const schema = contentSchema(kind.fields, edit.form);
  const content = edit.form.map((name) => [name, wire(name, kind.fields[name])] as const);
  const required = edit.form.filter((name) => !kind.fields[name]?.optional);
  const rest = Object.entries(kind.fields).filter(([name]) => !edit.form.includes(name));
  const derived = new Set(kind.derived.map(({ name }) => name));
  // The fixed fields as read: the parent by its id, other references as objects.
  const flat = rest.filter(
    ([name, def]) =>
      name === kind.parent || def.kind === 'states' || def.kind === 'choice' || derived.has(name),
  );
  const references = rest.filter(([name, def]) => name !== kind.parent && def.kind === 'ref');
  const labels = references.map(([name, def]) => `/${name}/${domain.kinds[targetOf(def)]?.label ?? ''}`);
  const moments = rest.filter(([, def]) => def.kind === 'instant').map(([name]) => `/${name}`);
  const unknown = [...labels, ...moments, '/createdAt', '/updatedAt', '/_links'];
  return (patch, state) => {
    if (state.status !== 'present' || required.some((name) => state.fields[name] === null)) return {};
    const { fields } = state;
    const document = {
      content: Object.fromEntries(content.map(([name, key]) => [key, fields[name]])) as JsonObject,
      fixed: {
        id: fields.id,
        ...Object.fromEntries(flat.map(([name, def]) => [wire(name, def), fields[name]])),
        ...Object.fromEntries(references.map(([name]) => [name, { id: fields[name] }])),
      } as JsonObject,
      unknown,
    };
    return changesByPatch(schema, document, patch);
  };
};
