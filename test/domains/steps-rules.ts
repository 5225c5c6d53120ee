import { newName, someOf } from './names.ts';
import { type AggregatePlan, code, type JsonRecord } from './plan.ts';
import { randomCondition } from './random-conditions.ts';
import { randomStart } from './random-timers.ts';
import { type GrowStep, kindIn } from './steps-content.ts';
import { partIn } from './steps-rights.ts';

export const addDerived: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const lists = Object.entries(aggregate.fields).filter(([, { type }]) => type === 'list');
  if (lists.length === 0) return false;
  const [list, { item = {} }] = random.pick(lists);
  const numbers = Object.keys(item).filter((name) => item[name]?.type === 'integer');
  const derived = partIn(aggregate, 'derived');
  const name = newName(random, 'field', { ...aggregate.fields, ...derived });
  derived[name] =
    numbers.length > 0 && random.chance(60) ? { sum: `${list}.${random.pick(numbers)}` } : { count: list };
  return true;
};

/** Commands without a form, which timers, reactions and `next` can run. */
export const formless = ({ events, commands }: AggregatePlan): readonly string[] =>
  Object.entries(commands).flatMap(([name, { emits }]) => {
    const event = typeof emits === 'string' ? events[emits] : undefined;
    return event &&
      ('ends' in event ||
        !('creates' in event || 'changes' in event || event.sets) ||
        (event.sets && !event.changes && !event.creates))
      ? [name]
      : [];
  });

export const addTimer: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const [runs, timers] = [formless(aggregate), partIn(aggregate, 'timers')];
  if (runs.length === 0) return false;
  const starts = randomStart(aggregate, random);
  const conditions = someOf(random, 'at' in starts ? ['when'] : ['when', 'pause']).map((name) => [
    name,
    randomCondition(plan, kind, random),
  ]);
  timers[newName(random, 'verb', timers)] = {
    ...starts,
    run: random.pick(runs),
    ...Object.fromEntries(conditions),
  };
  return true;
};

export const addReaction: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const { fields, commands, events } = aggregate;
  const paths = Object.entries(fields).flatMap(([name, { type, given, item = {} }]) =>
    type === 'ref'
      ? [[name, String(given[0])] as const]
      : Object.entries(item).flatMap(([of, inner]) =>
          inner.type === 'ref' ? [[`${name}.${of}`, String(inner.given[0])] as const] : [],
        ),
  );
  if (paths.length === 0) return false;
  const [path, target] = random.pick(paths);
  const [list] = path.split('.');
  const removing = Object.keys(commands).filter(
    (name) => events[String(commands[name]?.emits)]?.removes === list,
  );
  const runs = path.includes('.') ? [...removing, ...formless(aggregate)] : formless(aggregate);
  const of = target === 'user' ? ['deleted', 'updated'] : Object.keys(plan.aggregates[target]?.events ?? {});
  if (runs.length === 0 || of.length === 0) return false;
  const when = random.chance(30) ? { when: randomCondition(plan, kind, random) } : {};
  const part = partIn(aggregate, 'reactions');
  part[path] = { ...(part[path] as JsonRecord), [random.pick(of)]: { run: random.pick(runs), ...when } };
  return true;
};

export const addNext: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const runs = formless(aggregate);
  if (runs.length === 0) return false;
  random.pick(Object.values(aggregate.commands)).next = [random.pick(runs)];
  return true;
};

const EXTRAS: readonly ((aggregate: AggregatePlan) => JsonRecord)[] = [
  () => ({ subscribe: true }),
  () => ({ hidden: true }),
  () => ({ says: 'It happened, "quoted".' }),
];
export const addEventOption: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const event = random.pick(Object.values(aggregate.events));
  if (random.chance(30)) event.carries = [random.pick(Object.keys(aggregate.fields))];
  else Object.assign(event, random.pick(EXTRAS)(aggregate));
  return true;
};

export const addCommandOption: GrowStep = (plan, random) => {
  const [, { commands }] = kindIn(plan, random);
  Object.assign(random.pick(Object.values(commands)), random.pick([{ says: 'Do it' }, { internal: true }]));
  return true;
};

export const addTexts: GrowStep = (plan, random) => {
  const [kind, { more }] = kindIn(plan, random);
  if (random.chance(40)) more.says = 'Something of the *domain*.';
  else if (random.chance(50)) more.order = random.pick(['oldest', 'newest']);
  else more.names = random.pick<JsonRecord>([{ plural: `many${kind}` }, { graphql: 'Named' }]);
  return true;
};

/** A value that code computes: half of a number, or nothing at all. */
export const addDecision: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const { fields, commands, events } = aggregate;
  const free = Object.keys(fields).filter(
    (name) => fields[name]?.options.optional && fields[name]?.type === 'flag',
  );
  if (free.length === 0) return false;
  const [name, command] = [newName(random, 'verb', commands), random.pick(free)];
  events[`${name}Computed`] = { computes: [command] } as never;
  commands[name] = {
    emits: [`${name}Computed`],
    decide: code(`({ state }) => [['${name}Computed', { ${command}: state.id > 0 }]]`),
  };
  return true;
};

/** A command that also changes the target of a reference, by an event that needs no values. */
export const addChangeElsewhere: GrowStep = (plan, random) => {
  const [, { fields, commands, events }] = kindIn(plan, random);
  const changes = Object.entries(fields).flatMap(([reference, { type, given }]) => {
    const target = type === 'ref' ? plan.aggregates[String(given[0])] : undefined;
    return Object.entries(target?.events ?? {}).flatMap(([event, spec]) =>
      NEEDING.some((effect) => effect in spec) ? [] : [[reference, event] as const],
    );
  });
  if (changes.length === 0) return false;
  const [[reference, event], name] = [random.pick(changes), newName(random, 'verb', commands)];
  events[`${name}Elsewhere`] = {};
  commands[name] = {
    emits: [`${name}Elsewhere`],
    also: { [reference]: [event] },
    decide: code(
      `({ reads, on }) => (reads.${reference} === null ? [] : ['${name}Elsewhere', on('${reference}', '${event}')])`,
    ),
  };
  return true;
};
const NEEDING = ['creates', 'changes', 'computes', 'adds', 'updates', 'moves', 'removes'];
