import type { ZodNumber } from 'zod';
import { oneOf, wire } from '../base/names.ts';
import { leadsToUser } from '../base/users.ts';
import type { FieldDef } from '../declare/fields.ts';
import { EFFECTS } from '../registry/kind-of.ts';
import type { CommandInfo, EventInfo, Kind } from '../registry/registry.ts';
import { eachCommand, eachEvent, eachField, eachKind, type Sentences } from './refusals.ts';

/**
 * Refuses fields without a value at creation, and values that their fields do not accept: such aggregates
 * would be parked.
 */
export const demandFields = eachKind(
  eachField(wrongField),
  eachEvent(wrongEffect, wrongSets, wrongIdentity),
  eachCommand(lateMove),
  wrongCreation,
);

/**
 * The owner and the parent are in every event. The owner never changes, because keys of personal data rely on
 * that; the parent by an event that names both parents, so that followers of the former learn of it.
 */
function* wrongIdentity(event: EventInfo, kind: Kind): Sentences {
  const { effect, values, sets, former } = event;
  const { name, owner, parent } = kind;
  const sources = former === undefined ? [...values, ...Object.keys(sets)] : Object.keys(sets);
  if (effect === 'creates') return;
  if (owner !== undefined && [...sources, ...values].includes(owner))
    yield `changes ${owner}, which is the owner and never changes: use another reference, or end the ${name} and create it again.`;
  if (parent !== undefined && sources.includes(parent))
    yield `changes ${parent}, which is the parent: let an event with \`moves: '${parent}'\` change it.`;
  if (former !== undefined) yield* wrongMove(former, kind);
}

function* wrongMove(former: string, { name, parent = '', fields, lists }: Kind): Sentences {
  const defs = [fields, ...Object.values(lists).map((list) => list.fields)].flatMap((each) =>
    Object.values(each),
  );
  if (defs.some(({ personal }) => personal?.of === parent))
    yield `moves the ${name} to another ${parent}, to whom personal fields belong: let them belong to the owner.`;
  const taken = Object.entries(fields).find(([field, def]) => wire(field, def) === former);
  if (taken !== undefined)
    yield `records the former parent as ${former}, which is the name of the field ${taken[0]}: give the field another name.`;
}

/** The command has the form of its first event, so another one would get no new parent. */
function* lateMove({ events: [first, ...others] }: CommandInfo, { name, parent = '' }: Kind): Sentences {
  const move = first?.former === undefined ? others.find(({ former }) => former !== undefined) : undefined;
  if (move !== undefined)
    yield `emits ${move.name} after ${first?.name}, whose form has no new ${parent}, so it never moves the ${name}: name ${move.name} first.`;
}

function* wrongField(field: string, def: FieldDef): Sentences {
  const wrong = limitsWrongIn(def);
  if (wrong !== undefined) yield `the field ${field} ${wrong}`;
  if (def.initial !== undefined && !takes(def, def.initial))
    yield `the field ${field} has the default ${shown(def.initial)}, which it does not accept: use a value within its limits.`;
}

/** Limits that admit no value. */
const limitsWrongIn = ({ kind, recorded, values, max }: FieldDef): string | undefined => {
  const counted = (most: number, of: string): string | undefined =>
    Number.isSafeInteger(most) && most >= 1
      ? undefined
      : `allows at most ${most} ${of}: use a whole number of at least 1.`;
  switch (kind) {
    case 'text': {
      const most = recorded.meta()?.maxLength as number | undefined;
      return most === undefined ? undefined : counted(most, 'characters');
    }
    case 'set':
      return counted(max ?? 0, 'values');
    case 'integer': {
      const { minValue, maxValue } = recorded as ZodNumber;
      const isWithin = minValue === null || maxValue === null || minValue <= maxValue;
      return isWithin
        ? undefined
        : `accepts numbers from ${minValue} to ${maxValue}, which is an empty range: put the smaller limit first.`;
    }
    case 'choice':
    case 'states':
      return values?.length ? undefined : 'has no words: list the words that it accepts.';
    default:
      return undefined;
  }
};

const takes = (def: FieldDef, value: unknown): boolean =>
  value === null
    ? def.optional === true
    : def.demanded.safeParse(value).success && def.recorded.safeParse(value).success;

const shown = (value: unknown): string => JSON.stringify(value);

/** Parts of an event that would be silently ignored. */
function* wrongEffect({ spec }: EventInfo): Sentences {
  const [first, second] = EFFECTS.filter((effect) => effect !== 'sets' && Object.hasOwn(spec, effect));
  if (second !== undefined)
    yield `has \`${first}\` and \`${second}\`, but an event can have only one of them: declare another event for the other.`;
  if (first === 'ends' && Object.hasOwn(spec, 'sets'))
    yield 'ends the aggregate and sets fields, which nobody can read afterwards: remove `sets` or `ends`.';
}

function* wrongSets({ sets }: EventInfo, { fields, derived }: Kind): Sentences {
  for (const [field, value] of Object.entries(sets)) {
    const def = fields[field];
    if (def === undefined || derived.some(({ name }) => name === field))
      return yield `sets ${field}, which is not a field that events can set: use another field.`;
    yield* wrongValue(field, def, value);
  }
}

/** How a value that an event sets contradicts its field. */
export function* wrongValue(field: string, def: FieldDef, value: unknown): Sentences {
  if (value === 'now' && def.kind !== 'instant')
    yield `sets ${field} to \`now\`, but the field is not an instant(): use one of its values.`;
  if (value === 'caller' && !leadsToUser(def))
    yield `sets ${field} to \`caller\`, but the field does not refer to a user: use one of its values.`;
  if (value === 'now' || value === 'caller' || takes(def, value)) return;
  if (value === null)
    yield `sets ${field} to null, but the field is required: make it optional(), or set a value.`;
  yield `sets ${field} to ${shown(value)}, which the field does not accept: use a value within its limits.`;
}

/** Includes events that are no longer emitted: the log may contain them. */
function* wrongCreation({ name, owner, parent, persons, fields, events }: Kind): Sentences {
  const creating = Object.values(events).filter(({ effect }) => effect === 'creates');
  if (creating.length === 0) yield 'no event creates it: declare one with its initial fields in `creates`.';
  for (const [field, { optional, initial }] of Object.entries(fields)) {
    const isGiven = [owner, parent].includes(field) || Object.hasOwn(persons, field);
    if (optional || initial !== undefined || isGiven) continue;
    for (const event of creating)
      if (!event.values.includes(field) && !Object.hasOwn(event.sets, field))
        yield `the field ${field} is required, but the event ${event.name}, which creates ${oneOf(name)}, does not set it: add it to that event, give it a default, or make it optional().`;
  }
}
