import { oneOf } from '../base/names.ts';
import type { EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import { wrongValue } from './demand-fields.ts';
import type { Sentences } from './refusals.ts';

/** Refuses events of items whose form or values no item could have. */
export function* wrongItemEvent(event: EventInfo, kind: Kind): Sentences {
  const { list, spec } = event;
  if (list !== undefined) {
    yield* wrongForm(list, event);
    yield* wrongSets(list, event);
    yield* wrongAddition(kind, list, event);
  } else
    for (const option of ['fields', 'also'])
      if (Object.hasOwn(spec, option)) yield `has \`${option}\`, which is for events of items: remove it.`;
}

function* wrongForm(list: ListInfo, { effect, item, spec }: EventInfo): Sentences {
  const given = (spec.fields ?? []) as readonly string[];
  const sets = Object.keys(item?.sets ?? {});
  const computes = item?.computes ?? [];
  const option = ['fields', 'sets', 'computes'].find((each) => Object.hasOwn(spec, each));
  if ((effect === 'moves' || effect === 'removes') && option !== undefined)
    yield `\`${effect}\` ${oneOf(list.one)}, which sets no field of it: remove \`${option}\`.`;
  for (const field of given) {
    const def = list.fields[field];
    const place = `has ${field} in \`fields\``;
    if (field === list.key) yield `${place}, the key, which every addition has: remove it.`;
    if (def === undefined) yield `${place}, which is no field of the ${list.name}: use one of them.`;
    if (sets.includes(field)) yield `${place} and in \`sets\`: keep it in one of them.`;
    if (def?.kind === 'states')
      yield `${place}, a state, which only \`sets\` changes: remove it, or make it a choice().`;
    if (effect === 'updates' && list.settled.includes(field))
      yield `${place}, which decides who may read the item and never changes: remove it.`;
  }
  for (const field of computes) {
    if (list.fields[field] === undefined)
      yield `computes ${field}, which is no field of the ${list.name}: use one of them.`;
    if (list.settled.includes(field))
      yield `computes ${field}, which decides who may read the item: let the addition set it, or name it in \`fields\` of the addition.`;
    if (sets.includes(field) || given.includes(field))
      yield `computes ${field}, which it also sets or takes from the form: keep one of them.`;
  }
  const isIdle = effect === 'updates' && [...sets, ...computes, ...(item?.content ?? [])].length === 0;
  if (isIdle && Object.keys(list.fields).length > 0)
    yield `changes no field of ${oneOf(list.one)}: name some in \`fields\` or in \`sets\`.`;
}

function* wrongSets(list: ListInfo, { effect, item }: EventInfo): Sentences {
  for (const [field, value] of Object.entries(item?.sets ?? {})) {
    const def = list.fields[field];
    if (def === undefined)
      return yield `sets ${field}, which is ${field === list.key ? 'the key' : 'no field'} of the ${list.name}: use a field of the item, and \`also\` for fields of the aggregate.`;
    if (effect === 'updates' && list.settled.includes(field))
      yield `sets ${field}, which decides who may read the item and never changes: let the addition set it.`;
    yield* wrongValue(field, def, value);
  }
}

/** An added item has a value for each of its fields. */
function* wrongAddition(kind: Kind, list: ListInfo, { effect, name, item }: EventInfo): Sentences {
  const isSystems = Object.values(kind.commands).some(
    ({ internal, events }) => internal && events.some((event) => event.name === name),
  );
  for (const [field, def] of effect === 'adds' ? Object.entries(list.fields) : []) {
    const value = item?.sets[field];
    if (value === 'caller' && def.kind === 'ref' && !def.optional && isSystems)
      yield `sets ${field} to \`caller\`, but an internal command, which has no caller, emits it: make the field optional().`;
    const isGiven = item?.computes.includes(field) || item?.content.includes(field);
    if (!isGiven && !def.optional && def.initial === undefined && value === undefined)
      yield `adds ${oneOf(list.one)} without ${field}: name it in \`fields\` or in \`sets\`, give it a default, or make it optional().`;
  }
}
