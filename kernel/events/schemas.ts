import * as z from 'zod';
import type { FieldDef } from '../declare/fields.ts';
import { itemDefs, wire } from '../registry/names.ts';
import type { CommandInfo, EventInfo, Kind } from '../registry/registry.ts';

type Shape = Record<string, z.ZodType>;
const id = z.int().positive();
const orNull = (schema: z.ZodType, def: FieldDef) => (def.optional ? schema.nullable() : schema);

/** What an event holds: the ids of what it happened to, then what it changed. */
export const eventShape = (kind: Kind, event: EventInfo): Shape => {
  const shape: Shape = { [`${kind.name}Id`]: id };
  const add = (name: string, isPartial: boolean) => {
    const def = kind.fields[name];
    const schema = def ? orNull(def.recorded, def) : z.number();
    shape[wire(name, def)] = isPartial ? schema.exactOptional() : schema;
  };
  for (const name of kind.identity) add(name, false);
  // One field that is changed is always there; of several, those that changed.
  const isPartial = event.effect === 'changes' && event.content.length > 1;
  for (const name of event.content) if (!kind.identity.includes(name)) add(name, isPartial);
  for (const name of event.carries) if (!kind.identity.includes(name)) add(name, false);
  if (event.spec.claim) shape.claim = z.string().regex(/^[\x21-\x7e]{1,200}$/);
  return event.list === undefined ? shape : { ...shape, ...itemShape(kind, event) };
};

const itemShape = (kind: Kind, { list = '', effect }: EventInfo): Shape => {
  const def = kind.fields[list] as FieldDef;
  const shape: Shape = { itemId: id };
  const fields = Object.entries(itemDefs(def));
  if (effect === 'adds') for (const [name, field] of fields) shape[wire(name, field)] = orNull(field.recorded, field);
  if (effect === 'updates') for (const [name, field] of fields) shape[wire(name, field)] = orNull(field.recorded, field).exactOptional();
  // A text between those of its neighbours, so that a move changes one row.
  if (effect === 'moves' || effect === 'adds') shape.rank = z.string();
  return shape;
};
export const eventSchema = (kind: Kind, event: EventInfo): z.ZodObject => z.strictObject(eventShape(kind, event));

/** What a form holds. `isWhole` is that of PUT: everything must be named that has no default. */
export const formShape = (kind: Kind, command: CommandInfo, isWhole = false): Shape => {
  const shape: Shape = {};
  const guarded = new Set(Object.values(kind.fieldRights).flatMap(({ writes }) => (writes ?? []) as readonly string[]));
  for (const name of command.form) {
    const def = kind.fields[name] as FieldDef;
    const schema = command.requires.includes(name) ? def.demanded : orNull(def.demanded, def);
    const given =
      command.kind === 'create'
        ? withDefault(schema, def)
        : command.kind === 'edit' && command.form.length > 1 && !(isWhole && !guarded.has(name))
          ? schema.optional()
          : schema;
    shape[wire(name, def)] = given;
  }
  // Whoever may, names somebody else.
  if (command.kind === 'create' && kind.owner !== undefined) shape[wire(kind.owner, kind.fields[kind.owner])] = id.optional();
  if (command.kind === 'create') for (const next of command.next) shape[next] = z.boolean().default(false);
  const def = command.list === undefined ? undefined : kind.fields[command.list];
  if (def) {
    const isChange = command.kind === 'changeItem';
    if (isChange || command.kind === 'addItem')
      for (const [name, field] of Object.entries(itemDefs(def)))
        shape[wire(name, field)] = isChange ? orNull(field.demanded, field).optional() : withDefault(orNull(field.demanded, field), field);
    // Null is the end of the list.
    if (def.ordered && !isChange && command.kind !== 'removeItem')
      shape.before = command.kind === 'moveItem' ? id.nullable() : id.nullable().default(null);
  }
  return shape;
};
const withDefault = (schema: z.ZodType, def: FieldDef): z.ZodType =>
  def.initial !== undefined && def.kind !== 'states' ? schema.default(def.initial) : def.optional ? schema.default(null) : schema;

export const formSchema = (kind: Kind, command: CommandInfo, isWhole = false): z.ZodObject =>
  z.strictObject(formShape(kind, command, isWhole));
