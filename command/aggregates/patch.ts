import { contentSchema } from '#kernel/decide/forms.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import { targetOf, wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import type { JsonPatch } from '#shared/commands/json-patch.ts';
import type { JsonObject } from '#shared/json.ts';
import { changesByPatch } from '../patch-content.ts';

/** The form of an edit that a JSON patch comes to. Where there is nothing to patch it changes nothing, and the decider says why. */
export type FormByPatch = (patch: JsonPatch, state: AggregateState) => Row;

export const patchesOf = (domain: Domain, kind: Kind, edit: CommandInfo): FormByPatch => {
  const schema = contentSchema(kind, edit);
  const content = edit.form.map((name) => [name, wire(name, kind.fields[name])] as const);
  const required = edit.form.filter((name) => !kind.fields[name]?.optional);
  const rest = Object.entries(kind.fields).filter(([name]) => !edit.form.includes(name));
  const derived = new Set(kind.derived.map(({ name }) => name));
  // As it is read: what it stands under by its id, other references as what they lead to.
  const flat = rest.filter(([name, def]) => name === kind.parent || def.kind === 'states' || def.kind === 'choice' || derived.has(name));
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
