import { oneOf } from '../base/names.ts';
import type { EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import { wrongValue } from './demand-fields.ts';

/** Refuses events of items whose form or values no item could have. */
export const wrongItemEventsIn = (kind: Kind): readonly string[] =>
  Object.values(kind.events).flatMap((event) => {
    const { list, name, spec } = event;
    if (list !== undefined)
      return [...wrongForm(list, event), ...wrongSets(list, event), ...wrongAddition(kind, list, event)].map(
        (wrong) => `${kind.name}: the event ${name} ${wrong}`,
      );
    return ['fields', 'also'].flatMap((option) =>
      Object.hasOwn(spec, option)
        ? [`${kind.name}: the event ${name} has \`${option}\`, which is for events of items: remove it.`]
        : [],
    );
  });

const wrongForm = (list: ListInfo, { effect, item, spec }: EventInfo): readonly string[] => {
  const given = (spec.fields ?? []) as readonly string[];
  const sets = Object.keys(item?.sets ?? {});
  const option = ['fields', 'sets', 'computes'].find((each) => Object.hasOwn(spec, each));
  if ((effect === 'moves' || effect === 'removes') && option !== undefined)
    return [`\`${effect}\` ${oneOf(list.one)}, which sets no field of it: remove \`${option}\`.`];
  const computes = item?.computes ?? [];
  const isIdle = effect === 'updates' && [...sets, ...computes, ...(item?.content ?? [])].length === 0;
  return [
    ...given.flatMap((field) => {
      const def = list.fields[field];
      if (field === list.key)
        return [`has ${field} in \`fields\`, the key, which every addition has: remove it.`];
      if (def === undefined)
        return [`has ${field} in \`fields\`, which is no field of the ${list.name}: use one of them.`];
      if (sets.includes(field))
        return [`has ${field} in \`fields\` and in \`sets\`: keep it in one of them.`];
      if (def.kind === 'states')
        return [
          `has ${field} in \`fields\`, a state, which only \`sets\` changes: remove it, or make it a choice().`,
        ];
      return effect === 'updates' && list.settled.includes(field)
        ? [`has ${field} in \`fields\`, which decides who may read the item and never changes: remove it.`]
        : [];
    }),
    ...computes.flatMap((field) => {
      if (list.fields[field] === undefined)
        return [`computes ${field}, which is no field of the ${list.name}: use one of them.`];
      if (list.settled.includes(field))
        return [
          `computes ${field}, which decides who may read the item: let the addition set it, or name it in \`fields\` of the addition.`,
        ];
      return sets.includes(field) || given.includes(field)
        ? [`computes ${field}, which it also sets or takes from the form: keep one of them.`]
        : [];
    }),
    ...(isIdle && Object.keys(list.fields).length > 0
      ? [`changes no field of ${oneOf(list.one)}: name some in \`fields\` or in \`sets\`.`]
      : []),
  ];
};

const wrongSets = (list: ListInfo, { effect, item }: EventInfo): readonly string[] =>
  Object.entries(item?.sets ?? {}).flatMap(([field, value]) => {
    const def = list.fields[field];
    if (def === undefined)
      return [
        `sets ${field}, which is ${field === list.key ? 'the key' : 'no field'} of the ${list.name}: use a field of the item, and \`also\` for fields of the aggregate.`,
      ];
    if (effect === 'updates' && list.settled.includes(field))
      return [
        `sets ${field}, which decides who may read the item and never changes: let the addition set it.`,
      ];
    return [...wrongValue(field, def, value)];
  });

/** An added item has a value for each of its fields. */
const wrongAddition = (kind: Kind, list: ListInfo, { effect, name, item }: EventInfo): readonly string[] => {
  if (effect !== 'adds') return [];
  const isSystems = Object.values(kind.commands).some(
    ({ internal, events }) => internal && events.some((event) => event.name === name),
  );
  return Object.entries(list.fields).flatMap(([field, def]) => {
    const value = item?.sets[field];
    if (value === 'caller' && def.kind === 'ref' && !def.optional && isSystems)
      return [
        `sets ${field} to \`caller\`, but an internal command, which has no caller, emits it: make the field optional().`,
      ];
    const hasValue =
      def.optional || def.initial !== undefined || value !== undefined || item?.computes.includes(field);
    return hasValue || item?.content.includes(field)
      ? []
      : [
          `adds ${oneOf(list.one)} without ${field}: name it in \`fields\` or in \`sets\`, give it a default, or make it optional().`,
        ];
  });
};
