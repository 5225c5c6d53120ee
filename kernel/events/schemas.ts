import * as z from 'zod';
import type { Json, JsonObject } from '#shared/json.ts';
import { RANK } from '../decide/rank.ts';
import type { FieldDef } from '../declare/fields.ts';
import { wire } from '../registry/names.ts';
import type { Effect, EventInfo, Kind, ListInfo } from '../registry/registry.ts';

type Shape = Record<string, z.ZodType>;
const id = z.int().positive();
const orNull = (schema: z.ZodType, def: FieldDef) => (def.optional ? schema.nullable() : schema);

/** What an event holds: the ids of what it happened to, then what it changed. */
const eventShape = (kind: Kind, event: EventInfo): Shape => {
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
  for (const name of [...event.computes, ...event.carries]) if (!kind.identity.includes(name)) add(name, false);
  if (event.spec.claim) shape.claim = z.string().regex(/^[\x21-\x7e]{1,200}$/);
  return event.list === undefined ? shape : { ...shape, ...itemShape(event.list, event.effect) };
};

const itemShape = (list: ListInfo, effect: Effect): Shape => {
  const shape: Shape = { [list.id.name]: list.id.def.recorded };
  for (const [name, def] of Object.entries(list.fields)) {
    const schema = orNull(def.recorded, def);
    if (effect === 'adds') shape[wire(name, def)] = schema;
    if (effect === 'updates') shape[wire(name, def)] = schema.exactOptional();
  }
  // A text between those of its neighbours, so that a move changes one row.
  if (list.isOrdered && (effect === 'adds' || effect === 'moves')) shape.rank = z.string().regex(RANK);
  return shape;
};
export const eventSchema = (kind: Kind, event: EventInfo): z.ZodObject => z.strictObject(eventShape(kind, event));

/** What fields read as that were added later to what a creation says, or an added item. What else comes later needs a version: nobody said it. */
export const absentIn = (kind: Kind, event: EventInfo): JsonObject =>
  Object.fromEntries(
    begunBy(kind, event).flatMap(([name, def]) =>
      def.optional || def.initial !== undefined ? [[wire(name, def), (def.initial ?? null) as Json]] : [],
    ),
  );

const begunBy = ({ fields }: Kind, { effect, content, list }: EventInfo): readonly (readonly [string, FieldDef])[] => {
  if (effect === 'creates') return Object.entries(fields).filter(([name]) => content.includes(name));
  return effect === 'adds' ? Object.entries(list?.fields ?? {}) : [];
};
