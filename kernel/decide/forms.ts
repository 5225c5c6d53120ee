import * as z from 'zod';
import { JsonPatch } from '../base/json-patch.ts';
import { capital, wire } from '../base/names.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Defs, Domain, Kind, ListInfo } from '../registry/registry.ts';
import { isFileField, STORED } from './accepted-files.ts';
import { typeOfCommand } from './decide.ts';

type Shape = Record<string, z.ZodType>;
const id = z.int().positive();

/**
 * The fields of a command beside its ids. A missing field gets its default in a creation, and stays unchanged
 * in an edit, or if it is optional.
 */
export const formShape = (kind: Kind, command: CommandInfo): Shape => {
  const isCreation = command.kind === 'create';
  const isPartial = command.kind === 'edit' && command.form.length > 1;
  if (command.list !== undefined) return itemFormShape(command, command.list);
  const shape: Shape = {};
  // Callers with the right `forOthers` may name another owner than themselves.
  if (isCreation && kind.owner !== undefined)
    shape[wire(kind.owner, kind.fields[kind.owner])] = id.optional();
  for (const name of command.form) {
    const def = kind.fields[name] as FieldDef;
    const isRequired = command.requires.includes(name);
    const schema = isRequired ? def.demanded : demandedOf(def);
    if (isCreation) shape[wire(name, def)] = isRequired ? schema : withDefault(schema, def);
    else shape[wire(name, def)] = isPartial || mayBeAbsent(command, name, def) ? schema.optional() : schema;
  }
  if (isCreation) for (const next of command.next) shape[next] = z.boolean().default(false);
  return shape;
};

/** An optional field stays as it is if the form of an action does not contain it. */
const mayBeAbsent = ({ requires }: CommandInfo, name: string, { optional }: FieldDef): boolean =>
  optional === true && !requires.includes(name);

/** The fields that a command has of an item. Only the addition of an item with a key contains the key. */
const itemFormShape = (command: CommandInfo, { fields, id: of, key }: ListInfo): Shape => {
  const all = command.itemForm.map((name) => {
    const def = fields[name] as FieldDef;
    return [name, def, demandedOf(def)] as const;
  });
  switch (command.kind) {
    case 'addItem':
      return {
        ...(key !== undefined && { [of.name]: of.def.demanded }),
        ...Object.fromEntries(all.map(([name, def, schema]) => [wire(name, def), withDefault(schema, def)])),
      };
    case 'changeItem':
      return Object.fromEntries(all.map(([name, def, schema]) => [wire(name, def), schema.optional()]));
    case 'actOnItem':
      return Object.fromEntries(
        all.map(([name, def, schema]) => [wire(name, def), def.optional ? schema.optional() : schema]),
      );
    case 'moveItem':
      return { before: of.def.recorded.nullable() };
    default:
      return {};
  }
};

/**
 * The content to which a JSON patch applies, and its valid result. Removing an optional field sets it to
 * null.
 */
export const contentSchema = (fields: Defs, names: readonly string[]): z.ZodObject =>
  z.strictObject(
    Object.fromEntries(
      names.map((name) => {
        const def = fields[name] as FieldDef;
        const schema = demandedOf(def);
        return [
          wire(name, def),
          def.optional ? schema.default(null) : def.kind === 'set' ? schema.default([]) : schema,
        ];
      }),
    ),
  );

/** The schema of a field in a form. */
export const demandedOf = (def: FieldDef): z.ZodType =>
  def.optional ? def.demanded.nullable() : def.demanded;

const withDefault = (schema: z.ZodType, def: FieldDef): z.ZodType =>
  def.initial !== undefined && def.kind !== 'states'
    ? schema.default(def.initial)
    : def.optional
      ? schema.default(null)
      : schema;

/** The schema of the command as sent. A creation names the parent; any other command names the aggregate. */
export const commandSchema = (kind: Kind, command: CommandInfo): z.ZodObject => {
  const parent = kind.parent === undefined ? {} : { [wire(kind.parent, kind.fields[kind.parent])]: id };
  const of = command.kind === 'create' ? parent : { [`${kind.name}Id`]: id };
  const { list } = command;
  const item =
    list === undefined || command.kind === 'addItem' ? {} : { [list.id.name]: list.id.def.recorded };
  const defs = list === undefined ? kind.fields : list.fields;
  const stored = (list === undefined ? command.form : command.itemForm).filter((name) =>
    isFileField(defs[name]),
  );
  return z.strictObject({
    type: z.literal(typeOfCommand(kind, command.name)),
    ...of,
    ...item,
    ...formShape(kind, command),
    ...(stored.length > 0 && { [STORED]: z.enum(stored).exactOptional() }),
  });
};

/** The command whose form a JSON patch changes. */
export const editOf = (kind: Kind): CommandInfo | undefined =>
  Object.values(kind.commands).find((command) => command.kind === 'edit' && !command.internal);

export const patchType = ({ name }: Kind, list?: ListInfo): string =>
  `Patch${capital(name)}${list === undefined ? '' : capital(list.one)}`;

/** The commands whose forms a JSON patch changes: the edit, and that of each list. */
export const patchedCommandsOf = (kind: Kind): readonly CommandInfo[] => {
  const edit = editOf(kind);
  const ofItems = Object.values(kind.commands).filter(
    (command) => command.kind === 'changeItem' && !command.internal,
  );
  return [...(edit === undefined ? [] : [edit]), ...ofItems];
};

/** The schemas of all commands to the aggregates of a domain. */
export const commandSchemasOf = (domain: Domain): readonly z.ZodObject[] =>
  Object.values(domain.kinds).flatMap((kind) => [
    ...Object.values(kind.commands)
      .filter((command) => !command.internal)
      .map((command) => commandSchema(kind, command)),
    ...patchedCommandsOf(kind).map(({ list }) =>
      z.strictObject({
        type: z.literal(patchType(kind, list)),
        [`${kind.name}Id`]: id,
        ...(list !== undefined && { [list.id.name]: list.id.def.recorded }),
        patch: JsonPatch,
      }),
    ),
  ]);
