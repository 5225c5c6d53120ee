import type { Random } from '../../testing/random.ts';
import { newName, someOf, WORDS } from './names.ts';
import type { AggregatePlan, DomainPlan, FieldPlan } from './plan.ts';
import { addOption, isUploadOnly, randomField } from './random-fields.ts';

/** One addition to a plan, in place; false if there is no place for it. */
export type GrowStep = (plan: DomainPlan, random: Random) => boolean;

export const addAggregate: GrowStep = ({ aggregates, roles }, random) => {
  const name = newName(random, 'noun', aggregates);
  const first = newName(random, 'field', {});
  aggregates[name] = {
    fields: { [first]: { type: 'line', given: [100], options: {} } },
    events: { created: { creates: [first] } },
    commands: { [random.pick(['create', 'open', 'start', 'add'])]: { emits: 'created' } },
    rights: {
      read: random.pick([{ anyone: true }, { signedIn: true }, { [random.pick(roles)]: true }]),
      write: random.pick([{ signedIn: true }, { [random.pick(roles)]: true }]),
    },
    more: {},
  };
  return true;
};

/** A random aggregate, most often the latest, so that one becomes rich. */
export const kindIn = ({ aggregates }: DomainPlan, random: Random): readonly [string, AggregatePlan] =>
  random.pick(Object.entries(aggregates));

export const creationOf = ({ events }: AggregatePlan): { creates: string[] } =>
  (Object.values(events).find(({ creates }) => creates) ?? { creates: [] }) as { creates: string[] };

const editOf = ({ events }: AggregatePlan): { changes: string[] } | undefined =>
  Object.values(events).find(({ changes, sets }) => changes && !sets) as { changes: string[] } | undefined;

/** Forms can contain it: of the creation, and of the edit. */
const offer = (aggregate: AggregatePlan, name: string, random: Random): void => {
  const { options } = aggregate.fields[name] as FieldPlan;
  if (!options.optional || random.chance(70)) creationOf(aggregate).creates.push(name);
  if (random.chance(50)) editOf(aggregate)?.changes.push(name);
};

export const addField: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const name = newName(random, 'field', aggregate.fields);
  const field = randomField(random);
  if (random.chance(40)) addOption(field, random);
  aggregate.fields[name] = field;
  if (!isUploadOnly(field) || random.chance(50)) offer(aggregate, name, random);
  return true;
};

export const addFieldOption: GrowStep = (plan, random) => {
  const [, { fields }] = kindIn(plan, random);
  const all = Object.values(fields).flatMap((field) => [field, ...Object.values(field.item ?? {})]);
  return addOption(random.pick(all), random);
};

export const targetIn = ({ aggregates }: DomainPlan, random: Random): string =>
  random.chance(35) ? 'user' : random.pick(Object.keys(aggregates));

export const addReference: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const name = newName(random, 'reference', aggregate.fields);
  const options = { ...(random.chance(40) && { optional: [] }), ...(random.chance(30) && { filter: [] }) };
  const given = [targetIn(plan, random), ...goneAtRandom(random)];
  aggregate.fields[name] = { type: 'ref', given, options };
  offer(aggregate, name, random);
  return true;
};

const goneAtRandom = (random: Random): readonly { readonly gone: 'null' }[] =>
  random.chance(30) ? [{ gone: 'null' }] : [];

/** A reference that becomes null with the end of its target, which the assembly refuses without such an end. */
export const setGone: GrowStep = (plan, random) => {
  const [, { fields }] = kindIn(plan, random);
  const all = Object.values(fields).flatMap((field) => [field, ...Object.values(field.item ?? {})]);
  const references = all.filter(({ type, given }) => type === 'ref' && given.length === 1);
  if (references.length === 0) return false;
  random.pick(references).given.push({ gone: 'null' });
  return true;
};

export const setOwner: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  if (aggregate.owner !== undefined) return false;
  const name = newName(random, 'reference', aggregate.fields);
  aggregate.fields = { [name]: { type: 'ref', given: ['user'], options: {} }, ...aggregate.fields };
  aggregate.owner = name;
  return true;
};

export const setParent: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const others = Object.keys(plan.aggregates).filter((name) => name !== kind);
  if (aggregate.parent !== undefined || others.length === 0) return false;
  const target = random.pick(others);
  const name =
    random.chance(70) && !(target in aggregate.fields)
      ? target
      : newName(random, 'reference', aggregate.fields);
  aggregate.fields = { [name]: { type: 'ref', given: [target], options: {} }, ...aggregate.fields };
  aggregate.parent = name;
  return true;
};

export const addMove: GrowStep = (plan, random) => {
  const children = Object.values(plan.aggregates).filter(({ parent }) => parent !== undefined);
  if (children.length === 0) return false;
  const { parent, ...child } = random.pick(children);
  withEvent(child, random, { moves: parent });
  return true;
};

export const setLabel: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  aggregate.label = random.pick(Object.keys(aggregate.fields));
  return true;
};

export const addStates: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const name = newName(random, 'field', aggregate.fields);
  const used = Object.values(aggregate.fields).flatMap(({ type, given }) =>
    type === 'choice' || type === 'states' ? given : [],
  );
  const words = someOf(
    random,
    WORDS.filter((word) => !used.includes(word)),
    2,
  ).slice(0, 3);
  if (words.length < 2) return false;
  aggregate.fields[name] = { type: 'states', given: words, options: random.chance(50) ? { filter: [] } : {} };
  for (const word of words.slice(1)) withEvent(aggregate, random, { sets: { [name]: word } });
  return true;
};

export const withEvent = (aggregate: AggregatePlan, random: Random, event: object): string => {
  const command = newName(random, 'verb', aggregate.commands);
  const name = `${command}Done`;
  aggregate.events[name] = event as never;
  aggregate.commands[command] = { emits: name };
  return command;
};

/** An aggregate that is created without any content. */
export const setNothing: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const { fields } = aggregate;
  const creation = creationOf(aggregate);
  const names = creation.creates;
  for (const name of names) (fields[name] as FieldPlan).options.optional = [];
  creation.creates = [];
  const edit = editOf(aggregate);
  if (edit) edit.changes = [...new Set([...edit.changes, ...names])];
  else withEvent(aggregate, random, { changes: names });
  return names.length > 0;
};

export const addEdit: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const names = Object.entries(aggregate.fields).flatMap(([name, { type }]) =>
    ['list', 'states'].includes(type) || name === aggregate.owner || name === aggregate.parent ? [] : [name],
  );
  if (editOf(aggregate) || names.length === 0) return false;
  withEvent(aggregate, random, { changes: someOf(random, names, 1) });
  return true;
};

/** An action, a note, or the end. */
export const addAction: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const { fields, events } = aggregate;
  const optional = Object.entries(fields).filter(
    ([, field]) => field.options.optional && !isUploadOnly(field),
  );
  const sets = Object.fromEntries(
    optional
      .flatMap(([name, { type, given }]) =>
        type === 'instant'
          ? [[name, 'now']]
          : type === 'ref' && given[0] === 'user'
            ? [[name, 'caller']]
            : [[name, null]],
      )
      .slice(0, 2),
  );
  const editable = Object.keys(fields).filter((name) => creationOf(aggregate).creates.includes(name));
  const hasEnd = Object.values(events).some(({ ends }) => ends);
  const drawn = random.pick(['ends', 'notes', 'sets', 'form']);
  if (drawn === 'ends') return !hasEnd && withEvent(aggregate, random, { ends: true }) !== '';
  if (drawn === 'notes') return withEvent(aggregate, random, {}) !== '';
  if (Object.keys(sets).length === 0) return false;
  const changes = someOf(random, editable, 1)
    .filter((name) => !(name in sets))
    .slice(0, 2);
  if (drawn === 'form' && changes.length === 0) return false;
  withEvent(aggregate, random, drawn === 'form' ? { changes, sets } : { sets });
  return true;
};
