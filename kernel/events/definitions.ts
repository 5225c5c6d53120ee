// Over 200 lines, because it is one derivation: schema, personal fields and example of each event type of a
// domain.
import * as z from 'zod';
import { defineEvent, type EventDefinition } from '../base/events/define-event.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { targetOf, wire } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { operationOf } from '../conditions/rights.ts';
import { RANK } from '../decide/rank.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, Effect, EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import { seeing } from '../registry/roles.ts';
import { absentKindsOf, recordedKindsOf } from '../webhook/managed-kinds.ts';

/**
 * The definitions of all events of a declaration: those of a domain in its order, then those of webhooks. Only
 * who audits the log sees those of a part that is not served.
 */
export const definitionsOf = (domain: Domain): readonly EventDefinition[] => {
  const absent = absentKindsOf(domain);
  return recordedKindsOf(domain).flatMap((kind) =>
    Object.values(kind.events).map((event) => {
      const definition = definitionOf(domain, kind, event);
      return absent.includes(kind) ? ({ ...definition, visibility: 'internal' } as const) : definition;
    }),
  );
};

const definitionOf = (domain: Domain, kind: Kind, event: EventInfo): EventDefinition => {
  const schema = eventSchema(kind, event);
  return defineEvent<string, ReturnType<typeof eventSchema>, string>({
    type: event.type,
    version: event.version,
    visibility: event.hidden ? 'internal' : 'public',
    description: event.says ?? `Event ${event.name} of the ${kind.name}.`,
    stream: { kind: kind.name, key: `${kind.name}Id` },
    schema,
    // The kernel’s own events had all of their fields from the start.
    absent: kind.isManaged ? {} : absentIn(kind, event),
    personal: personalOf(kind, event),
    upcasters: event.upcast,
    ...(kind.isManaged && {
      visibleTo: {
        right: seeing(domain, operationOf(kind, 'manage')),
        owner: wire('owner', kind.fields.owner),
        isProjected: true,
      },
    }),
    example: exampleOf(domain, kind, event),
  });
};

/**
 * The parts of an event that are sealed under a person’s key: of the user in a field, of the owner, or of the
 * user whose event it is.
 */
const personalOf = (kind: Kind, event: EventInfo): EventDefinition['personal'] => {
  const held = [...event.values, ...event.carries];
  const fields = held.filter((name) => kind.fields[name]?.personal !== undefined);
  const ofItem = personalOfItem(event);
  const persons = new Set(
    [...fields.map((name) => kind.fields[name]), ...ofItem.map(([, def]) => def)].map(
      (def) => def?.personal?.of ?? kind.owner,
    ),
  );
  if (persons.size > 1)
    throw new StartRefused(
      `${event.type}: one event contains personal fields of ${[...persons].join(' and ')}: keep those of one person.`,
    );
  const [person] = persons;
  if (fields.length + ofItem.length === 0) return null;
  const subject = person === undefined ? `${kind.name}Id` : wire(person, kind.fields[person]);
  const concealed = fields.filter((name) => kind.fields[name]?.concealed !== undefined);
  return {
    subject,
    fields: [
      ...fields.map((name) => wire(name, kind.fields[name])),
      ...ofItem.map(([name, def]) => wire(name, def)),
    ],
    ...(concealed.length > 0 && { concealed }),
  };
};

const personalOfItem = ({ list, effect }: EventInfo): readonly (readonly [string, FieldDef])[] =>
  list === undefined || (effect !== 'adds' && effect !== 'updates')
    ? []
    : Object.entries(list.fields).filter(([, { personal }]) => personal);

/** The example ids of each kind start at a thousand of its own. */
export const exampleId = (domain: Domain, kind: string): number =>
  (Object.keys(domain.kinds).indexOf(kind) + FIRST_THOUSAND) * 1_000 + 1;
const FIRST_THOUSAND = 7;

const exampleOf = (domain: Domain, kind: Kind, event: EventInfo): JsonObject => {
  const { example } = event;
  const value = (name: string): unknown => example?.[name] ?? exampleValue(domain, kind.fields[name]);
  const isPartial = event.effect === 'changes' && event.content.length > 1;
  const changed = event.content.filter((name) => example === undefined || name in example);
  const given = isPartial ? changed.slice(0, example === undefined ? 1 : changed.length) : event.content;
  const named = [...identityIn(kind, event), ...given, ...event.computes, ...event.carries].map((name) => [
    wire(name, kind.fields[name]),
    value(name),
  ]);
  const claim = isFence(event)
    ? { claim: `${event.name === 'email_abandoned' ? 'email' : 'limit'}-6XrQ@0` }
    : {};
  return {
    [`${kind.name}Id`]: exampleId(domain, kind.name),
    ...itemExample(domain, event),
    ...Object.fromEntries(named),
    ...(event.former !== undefined && { [event.former]: Number(value(kind.parent ?? '')) + 1 }),
    ...claim,
  } as JsonObject;
};

/** A change shows its first field only. */
const itemExample = (
  domain: Domain,
  { list, item, effect }: EventInfo,
): Readonly<Record<string, unknown>> => {
  if (list === undefined) return {};
  const exampleFor = (name: string, def: FieldDef): unknown => {
    const value = item?.sets[name];
    if (value === 'now') return exampleValue(domain, { ...def, optional: false });
    return value === undefined || value === 'caller'
      ? exampleValue(domain, { ...def, optional: def.optional === true && value === undefined })
      : value;
  };
  const all = Object.entries(list.fields).map(
    ([name, def]) => [name, wire(name, def), exampleFor(name, def)] as const,
  );
  const those = (names: readonly string[]) =>
    Object.fromEntries(all.flatMap(([name, to, value]) => (names.includes(name) ? [[to, value]] : [])));
  return {
    [list.id.name]: exampleValue(domain, list.id.def),
    ...(effect === 'adds' && those(Object.keys(list.fields))),
    ...(effect === 'updates' &&
      those([
        ...(item?.content ?? []).slice(0, 1),
        ...Object.keys(item?.sets ?? {}),
        ...(item?.computes ?? []),
      ])),
    ...those(list.settled),
    ...(list.isOrdered && (effect === 'adds' || effect === 'moves') && { rank: 'a1' }),
  };
};

/** Of a part of a path, which is never empty. */
export const exampleOfPart = (domain: Domain, def: FieldDef): unknown =>
  exampleValue(domain, { ...def, optional: false });

/** The author’s example of a field, or one derived from its type. */
export const exampleValue = (domain: Domain, def: FieldDef | undefined): unknown => {
  if (def === undefined) return 1;
  if (def.example !== undefined) return def.example;
  if (def.optional) return null;
  switch (def.kind) {
    case 'ref':
      return exampleId(domain, targetOf(def));
    case 'choice':
    case 'states':
      return def.values?.[0];
    case 'instant':
      return '2026-01-02T03:04:05.678Z';
    case 'date':
      return '2026-01-02';
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'set':
    case 'list':
      return [];
    case 'upload':
      return 'https://example.com/one.png';
    case 'text':
      return 'Text';
    case 'value':
      return null;
  }
};

type Shape = Record<string, z.ZodType>;
const id = z.int().positive();
const orNull = (schema: z.ZodType, def: FieldDef) => (def.optional ? schema.nullable() : schema);

const isFence = ({ spec }: EventInfo): boolean => spec.claim === true;
/** A fence may be the only event of an aggregate, so it contains none of its references. */
const identityIn = ({ identity }: Kind, event: EventInfo): readonly string[] =>
  isFence(event) ? [] : identity;

/** The data of an event: the ids of its aggregate, then its changes. */
const eventShape = (kind: Kind, event: EventInfo): Shape => {
  const shape: Shape = { [`${kind.name}Id`]: id };
  const add = (name: string, isPartial: boolean) => {
    const def = kind.fields[name];
    const schema = def ? orNull(def.recorded, def) : z.number();
    shape[wire(name, def)] = isPartial ? schema.exactOptional() : schema;
  };
  for (const name of identityIn(kind, event)) add(name, false);
  // A single changeable field is always present; of several, only those that changed.
  const isPartial = event.effect === 'changes' && event.content.length > 1;
  for (const name of event.content) if (!kind.identity.includes(name)) add(name, isPartial);
  for (const name of [...event.computes, ...event.carries])
    if (!kind.identity.includes(name)) add(name, false);
  if (event.former !== undefined) shape[event.former] = id;
  if (isFence(event)) shape.claim = z.string().regex(/^[\x21-\x7e]{1,200}$/);
  return event.list === undefined ? shape : { ...shape, ...itemShape(event.list, event.effect) };
};

const itemShape = (list: ListInfo, effect: Effect): Shape => {
  const shape: Shape = { [list.id.name]: list.id.def.recorded };
  for (const [name, def] of Object.entries(list.fields)) {
    const schema = orNull(def.recorded, def);
    if (effect === 'adds') shape[wire(name, def)] = schema;
    // Every event of an item contains the fields that decide who may read it. Events from before such a right
    // existed lack them.
    else if (effect === 'updates' || list.settled.includes(name))
      shape[wire(name, def)] = schema.exactOptional();
  }
  // A rank between those of the neighbours, so that a move changes one row.
  if (list.isOrdered && (effect === 'adds' || effect === 'moves')) shape.rank = z.string().regex(RANK);
  return shape;
};
const eventSchema = (kind: Kind, event: EventInfo): z.ZodObject => z.strictObject(eventShape(kind, event));

/**
 * The values of fields that were added to a creation or to items later. Any other addition needs a version,
 * because no default is known.
 */
const absentIn = (kind: Kind, event: EventInfo): JsonObject =>
  Object.fromEntries(
    begunBy(kind, event).flatMap(([name, def]) =>
      def.optional || def.initial !== undefined ? [[wire(name, def), (def.initial ?? null) as Json]] : [],
    ),
  );

const begunBy = (
  { fields }: Kind,
  { effect, content, list }: EventInfo,
): readonly (readonly [string, FieldDef])[] => {
  if (effect === 'creates') return Object.entries(fields).filter(([name]) => content.includes(name));
  return effect === 'adds' ? Object.entries(list?.fields ?? {}) : [];
};
