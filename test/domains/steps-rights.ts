import type { Json } from '#kernel/base/json.ts';
import type { Random } from '../../testing/random.ts';
import { newName, someOf } from './names.ts';
import { type AggregatePlan, code, type DomainPlan, type FieldPlan, type JsonRecord } from './plan.ts';
import { factsOf, randomCondition, valueMatch } from './random-conditions.ts';
import { addOption, randomField } from './random-fields.ts';
import { creationOf, type GrowStep, kindIn } from './steps-content.ts';

/** A part of the declaration by name, made when it is first needed. */
export const partIn = ({ more }: AggregatePlan, name: string): JsonRecord => {
  const part = (more[name] ?? {}) as JsonRecord;
  more[name] = part;
  return part;
};

const randomRow = (plan: DomainPlan, kind: string, random: Random): JsonRecord => {
  const cells = someOf(
    random,
    [...plan.roles, 'anyone', 'signedIn', ...(random.chance(20) ? ['admin'] : [])],
    1,
  );
  return Object.fromEntries(
    cells.map((cell): readonly [string, Json] => [
      cell,
      random.chance(40) ? random.chance(90) : randomCondition(plan, kind, random),
    ]),
  );
};

export const setRight: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const name = random.pick(['read', 'read', 'write', ...Object.keys(aggregate.commands)]);
  const references = Object.entries(aggregate.fields).flatMap(([field, { type, given }]) =>
    type === 'ref' && given[0] !== 'user' ? [field] : [],
  );
  const row = randomRow(plan, kind, random);
  const isAs = references.length > 0 && random.chance(30);
  if (isAs) delete row.anyone;
  aggregate.rights[name] = {
    ...row,
    ...(isAs && { as: random.pick(references) }),
    ...(random.chance(20) && { scope: random.pick(['run', 'manage', 'publish']) }),
  };
  return true;
};

export const addFact: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const facts = partIn(aggregate, 'facts');
  // A fact whose condition is only another one would be a second name for it.
  facts[newName(random, 'field', { ...facts, ...aggregate.fields })] = randomCondition(plan, kind, random);
  return true;
};

export const addRefusal: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const facts = factsOf(aggregate);
  if (facts.length === 0) return false;
  const says = 'It does not hold.';
  const declared = partIn(aggregate, 'facts');
  const fact = random.pick(facts);
  const { when = declared[fact] } = (declared[fact] ?? {}) as JsonRecord;
  declared[fact] = { ...(when !== undefined && { when }), says };
  return true;
};

export const addWhen: GrowStep = (plan, random) => {
  const [kind, { commands }] = kindIn(plan, random);
  // A condition on what does not exist yet can rarely hold.
  const command = random.pick(Object.values(commands).slice(random.chance(90) ? 1 : 0));
  if (command === undefined) return false;
  command.when = randomCondition(plan, kind, random);
  return true;
};

export const addInvariant: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const part = partIn(aggregate, 'invariants');
  part[newName(random, 'field', part)] = randomCondition(plan, kind, random);
  return true;
};

export const addLimit: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const plain = Object.entries(aggregate.fields).flatMap(([name, { type }]) =>
    type === 'list' ? [] : [name],
  );
  const per = someOf(random, plain).slice(0, 2);
  const part = partIn(aggregate, 'limits');
  part[newName(random, 'field', part)] = {
    // A lower one would soon refuse what the checks create.
    max: 100,
    says: 'There are enough of them.',
    ...(per.length > 0 && { per: per.length === 1 ? (per[0] as string) : per }),
    ...(random.chance(50) && { when: randomCondition(plan, kind, random) }),
  };
  return true;
};

export const addFieldRight: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const { fields } = aggregate;
  const rights = partIn(aggregate, 'fieldRights');
  const lists = Object.entries(fields).filter(([, { type }]) => type === 'list');
  const name = `read${Object.keys(rights).length}`;
  const row = randomRow(plan, kind, random);
  if (lists.length > 0 && random.chance(40)) {
    const [list, { item = {} }] = random.pick(lists);
    const [field, def] = random.pick(Object.entries(item));
    const match = def.type === 'ref' ? undefined : valueMatch(def, random);
    if (match === undefined) return false;
    rights[name] = { ...row, items: { [list]: { [field]: match } } };
    return true;
  }
  const readable = [
    ...Object.keys(fields),
    ...Object.keys((aggregate.more.derived ?? {}) as object),
    'updatedAt',
  ];
  rights[name] = { ...row, reads: someOf(random, readable, 1).slice(0, 3) };
  return true;
};

export const addRequires: GrowStep = (plan, random) => {
  const [, { commands, fields }] = kindIn(plan, random);
  const optional = Object.keys(fields).filter((name) => fields[name]?.options.optional);
  if (optional.length === 0) return false;
  random.pick(Object.values(commands)).requires = [random.pick(optional)];
  return true;
};

export const addUserField: GrowStep = ({ user, roles }, random) => {
  const name = newName(random, 'field', { ...user.fields, name: 1, email: 1, role: 1 });
  const field: FieldPlan = random.chance(50)
    ? { type: 'choice', given: ['north', 'south'], options: {} }
    : randomField(random);
  field.options.optional = [];
  if (random.chance(30)) addOption(field, random);
  user.fields[name] = field;
  const access = random.pick(['writes', 'reads', '']);
  if (access === '') return true;
  const cells = random.pick<JsonRecord>([{}, { [random.pick(roles)]: true }, { signedIn: 'caller' }]);
  user.fieldRights[`change${name}`] = { [access]: [name], ...cells };
  return true;
};

export const addDefaultState: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const optional = Object.keys(aggregate.fields).filter(
    (name) => !creationOf(aggregate).creates.includes(name),
  );
  const instants = optional.filter((name) => aggregate.fields[name]?.type === 'instant');
  if (instants.length === 0) return false;
  const creation = creationOf(aggregate) as unknown as JsonRecord;
  creation.sets = { [random.pick(instants)]: 'now' };
  return true;
};

/** A refusal of code, by the caller alone, so that it depends on no id. */
export const addCodedRefusal: GrowStep = (plan, random) => {
  const [, { commands }] = kindIn(plan, random);
  const plain = Object.values(commands).filter(
    ({ emits, decide }) => typeof emits === 'string' && decide === undefined,
  );
  if (plain.length === 0) return false;
  const command = random.pick(plain);
  command.refuses = { notNow: 'It is not possible now.' };
  command.decide = code(
    `({ callerId, refuse }) => callerId === null ? refuse('notNow') : ['${String(command.emits)}']`,
  );
  return true;
};
