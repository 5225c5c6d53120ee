import { EXAMPLE_CURSOR } from '../base/cursor.ts';
import type { JsonObject } from '../base/json.ts';
import { capital, kebab, targetOf, wire } from '../base/names.ts';
import { editOf } from '../decide/forms.ts';
import type { FieldDef } from '../declare/fields.ts';
import { exampleId, exampleValue } from '../events/definitions.ts';
import type { CommandInfo, CommandKind, Domain, Kind, ListInfo } from '../registry/registry.ts';
import { dimensionsOf } from './aggregates.ts';
import { nameOfItems } from './operation.ts';
import { labelOf, shownName } from './schemas.ts';

const WRITTEN = { version: 3, cursor: EXAMPLE_CURSOR };
const TIMES = { createdAt: '2026-11-21T09:30:00.000Z', updatedAt: '2026-11-21T10:15:00.000Z' };

/** Examples for the schemas of an aggregate, from the examples of its fields. */
export const examplesOfKind = (domain: Domain, kind: Kind): Readonly<Record<string, JsonObject>> => {
  const Name = capital(kind.name);
  const creation = Object.values(kind.commands).find((command) => command.kind === 'create');
  const edit = editOf(kind);
  return {
    [Name]: itemExample(domain, kind),
    [`${Name}Aggregate`]: aggregateExample(domain, kind),
    ...(creation && { [`New${Name}`]: formExample(domain, kind, creation) }),
    ...(edit && {
      [`${Name}Replacement`]: formExample(domain, kind, edit),
      [`${Name}Patch`]: patchExample(domain, kind, edit),
    }),
    ...Object.assign({}, ...Object.values(kind.lists).map((list) => examplesOfList(domain, kind, list))),
  };
};

/** Examples of an item of a list, and of the bodies that add, change and move one. */
const examplesOfList = (domain: Domain, kind: Kind, list: ListInfo): Readonly<Record<string, JsonObject>> => {
  const Name = nameOfItems(kind, list);
  const { key, id, fields } = list;
  const known = exampleValue(domain, id.def);
  const self = `/${kind.path}/${exampleId(domain, kind.name)}/${kebab(list.name)}/${String(known)}`;
  const all = [...(key === undefined ? [] : [[key, id.def] as const]), ...Object.entries(fields)];
  const shown = all.map(([name, def]) => [shownName(domain, name, def), shownExample(domain, def)] as const);
  const commands = Object.values(kind.commands).filter(
    (command) => command.list === list && !command.internal,
  );
  const sentBy = ({ itemForm }: CommandInfo) =>
    itemForm.map((name) => [wire(name, fields[name]), exampleValue(domain, fields[name])] as const);
  const has = (what: CommandKind): boolean => commands.some((command) => command.kind === what);
  const links = { self: { href: self }, ...(has('changeItem') && { edit: { href: self, method: 'PATCH' } }) };
  return {
    [Name]: {
      ...(key === undefined && { id: known }),
      ...Object.fromEntries(shown),
      ...TIMES,
      _links: links,
    } as JsonObject,
    ...Object.fromEntries(
      commands.flatMap((command): readonly (readonly [string, JsonObject])[] => {
        const sent = sentBy(command);
        const prefix = capital(command.verb ?? '');
        switch (command.kind) {
          case 'addItem':
            return [
              [
                `${command.verb === undefined ? 'New' : prefix}${Name}`,
                Object.fromEntries([
                  ...(key === undefined ? [] : [[id.name, known] as const]),
                  ...sent,
                ]) as JsonObject,
              ],
            ];
          case 'changeItem':
            return [[`${Name}Patch`, Object.fromEntries(sent.slice(0, 1)) as JsonObject]];
          case 'moveItem':
            return [[`${prefix}${Name}`, { before: known } as JsonObject]];
          case 'actOnItem':
            return sent.length === 0 ? [] : [[`${prefix}${Name}`, Object.fromEntries(sent) as JsonObject]];
          default:
            return [];
        }
      }),
    ),
    ...(has('addItem') && {
      [`${Name}Written`]: {
        id: exampleId(domain, kind.name),
        ...WRITTEN,
        [id.name]: known,
        _links: { self: { href: self } },
      } as JsonObject,
    }),
  };
};

const aggregateExample = (domain: Domain, kind: Kind): JsonObject => {
  const dimension = dimensionsOf(kind).find(({ def }) => def.kind === 'states');
  const key = dimension && { [dimension.field]: exampleValue(domain, dimension.def) };
  return {
    groups: [{ key: { ...key }, count: 3 } as JsonObject],
    hasMore: false,
    _links: {
      self: { href: `/${kind.path}/aggregate${dimension ? `?groupBy=${dimension.name}` : ''}` },
    },
  };
};

const itemExample = (domain: Domain, kind: Kind): JsonObject => {
  const self = `/${kind.path}/${exampleId(domain, kind.name)}`;
  const fields = Object.entries(kind.fields).map(([name, def]): readonly [string, unknown] =>
    name === kind.parent
      ? [wire(name, def), exampleValue(domain, def)]
      : [shownName(domain, name, def), shownExample(domain, def)],
  );
  const edit = editOf(kind) && { edit: { href: self, method: 'PATCH' } };
  const links = { self: { href: self }, ...edit };
  return {
    id: exampleId(domain, kind.name),
    ...Object.fromEntries(fields),
    ...TIMES,
    _links: links,
  } as JsonObject;
};

export const shownExample = (domain: Domain, def: FieldDef): unknown => {
  const label = labelOf(domain, def);
  const target = domain.kinds[targetOf(def)];
  const value = exampleValue(domain, def);
  return label === undefined || value === null
    ? value
    : { id: value, [label]: exampleValue(domain, target?.fields[label]) };
};

const formExample = (domain: Domain, kind: Kind, { form }: CommandInfo): JsonObject =>
  Object.fromEntries(
    form.map((name) => [wire(name, kind.fields[name]), exampleValue(domain, kind.fields[name])]),
  ) as JsonObject;

/** Changes the fields in the event’s example, or else the first field. */
const patchExample = (domain: Domain, kind: Kind, edit: CommandInfo): JsonObject => {
  const example = edit.events[0]?.example;
  const changed = example === undefined ? edit.form.slice(0, 1) : edit.form.filter((name) => name in example);
  return { ...formExample(domain, kind, { ...edit, form: changed }), ...(example as JsonObject | undefined) };
};
