import type { JsonObject } from '#shared/json.ts';
import { editOf } from '../decide/forms.ts';
import type { FieldDef } from '../declare/fields.ts';
import { exampleId, exampleValue } from '../events/definitions.ts';
import { capital, targetOf, wire } from '../registry/names.ts';
import type { CommandInfo, Domain, Kind } from '../registry/registry.ts';
import { labelOf, shownName } from './schemas.ts';

const TIMES = { createdAt: '2026-11-21T09:30:00.000Z', updatedAt: '2026-11-21T10:15:00.000Z' };

/** What the schemas of an aggregate look like filled in, by the examples of its fields. */
export const examplesOfKind = (domain: Domain, kind: Kind): Readonly<Record<string, JsonObject>> => {
  const Name = capital(kind.name);
  const creation = Object.values(kind.commands).find((command) => command.kind === 'create');
  const edit = editOf(kind);
  return {
    [Name]: itemExample(domain, kind),
    ...(creation && { [`New${Name}`]: formExample(domain, kind, creation) }),
    ...(edit && { [`${Name}Replacement`]: formExample(domain, kind, edit), [`${Name}Patch`]: patchExample(domain, kind, edit) }),
  };
};

const itemExample = (domain: Domain, kind: Kind): JsonObject => {
  const self = `/${kind.path}/${exampleId(domain, kind.name)}`;
  const fields = Object.entries(kind.fields).map(([name, def]) => [shownName(domain, name, def), shownExample(domain, def)] as const);
  const edit = editOf(kind) && { edit: { href: self, method: 'PATCH' } };
  const links = { self: { href: self }, ...edit };
  return { id: exampleId(domain, kind.name), ...Object.fromEntries(fields), ...TIMES, _links: links } as JsonObject;
};

const shownExample = (domain: Domain, def: FieldDef): unknown => {
  const label = labelOf(domain, def);
  const target = domain.kinds[targetOf(def)];
  const value = exampleValue(domain, def);
  return label === undefined || value === null ? value : { id: value, [label]: exampleValue(domain, target?.fields[label]) };
};

const formExample = (domain: Domain, kind: Kind, { form }: CommandInfo): JsonObject =>
  Object.fromEntries(form.map((name) => [wire(name, kind.fields[name]), exampleValue(domain, kind.fields[name])])) as JsonObject;

/** As the event shows what was changed, or the first field. */
const patchExample = (domain: Domain, kind: Kind, edit: CommandInfo): JsonObject => {
  const example = edit.events[0]?.example;
  const changed = example === undefined ? edit.form.slice(0, 1) : edit.form.filter((name) => name in example);
  return { ...formExample(domain, kind, { ...edit, form: changed }), ...(example as JsonObject | undefined) };
};
