import type { FieldDef } from '../declare/fields.ts';
import { column, wire } from './names.ts';
import type { CommandInfo, Kind, ListInfo } from './registry.ts';

/** Refuses lists that cannot be carried out, each in one sentence that says where it stands and the way out. */
export const demandLists = (kinds: readonly Kind[]): void => {
  const [wrong] = kinds.flatMap(wrongIn);
  if (wrong !== undefined) throw new Error(wrong);
};

/** All of a list are in memory when something is decided on one of them. */
const ITEMS_MAX = 1_000;
const NAME = /^[a-z][a-zA-Z0-9]{0,39}$/;
/** With what PostgreSQL's names of the triggers on it have beside it. */
const TABLE_CHARACTERS_MAX = 38;
const KEYS: ReadonlySet<FieldDef['kind']> = new Set(['ref', 'integer', 'text', 'choice']);
/** Of items as of every row, and of what events and forms say of them. */
const TAKEN = new Set('id rank before version seal type links createdAt updatedAt ctid xmin xmax cmin cmax tableoid'.split(' '));

const wrongIn = (kind: Kind): readonly string[] =>
  Object.values(kind.lists).flatMap((list) => [
    ...wrongOf(kind, list).map((wrong) => `${kind.name}: the list ${list.name} ${wrong}`),
    ...Object.values(kind.commands).flatMap((command) => (command.list === list ? wrongCommand(kind, command) : [])),
    ...(isAskedFor(list, [kind.facts, kind.rights, kind.invariants, Object.values(kind.commands).map(({ when }) => when)])
      ? [`${kind.name}: a condition on the ${list.name} cannot be carried out yet; leave it out.`]
      : []),
  ]);

const wrongOf = (kind: Kind, list: ListInfo): readonly string[] => {
  const { fields, key, id, max, isOrdered, one, name, table } = list;
  const all = Object.entries(fields);
  const identity = [kind.name, ...kind.identity].flatMap((each) =>
    each === kind.name ? [`${each}Id`] : [each, wire(each, kind.fields[each])],
  );
  const taken = new Set([...TAKEN, ...identity, ...(key === undefined ? [id.name] : [])]);
  const names = [...all, ...(key === undefined ? [] : [[key, id.def] as const])];
  const columns = names.map(([field, def]) => column(field, def));
  const moving = Object.values(kind.events).find((event) => event.list === list && event.effect === 'moves');
  const empty = Object.values(kind.events).find((event) => event.list === list && event.effect === 'updates' && all.length === 0);
  return [
    ...(Number.isInteger(max) && max >= 1 && max <= ITEMS_MAX ? [] : [`may have ${max} items: say from 1 to ${ITEMS_MAX}.`]),
    ...(NAME.test(one) && one !== name ? [] : [`calls one of its items ${one || 'nothing'}: say another word by \`one\`.`]),
    ...(table.length <= TABLE_CHARACTERS_MAX
      ? []
      : [`has the table ${table}, which is longer than ${TABLE_CHARACTERS_MAX} characters: give it another name.`]),
    ...names.flatMap(([field, def]) =>
      !NAME.test(field) || taken.has(field) || taken.has(wire(field, def))
        ? [`has the field ${field}, which events say already of something else: give it another name.`]
        : [],
    ),
    ...columns.flatMap((each, index) =>
      columns.indexOf(each) < index ? [`has the column ${each} twice: give one of the fields another name.`] : [],
    ),
    ...(key === undefined || isKey(id.def)
      ? []
      : [`has the key ${key}, which must be a reference, a number, a word or a choice that is neither optional nor personal.`]),
    ...all.flatMap(([field, def]) =>
      unsupportedOf(kind, def).map((what) => `has ${what} in ${field}, which cannot be carried out yet; leave it out.`),
    ),
    ...(moving !== undefined && !isOrdered ? [`is in no order of its own, and ${moving.name} moves its items: make it \`ordered\`.`] : []),
    ...(empty !== undefined ? [`has nothing but its key, and ${empty.name} changes its items: leave that out.`] : []),
  ];
};

const isKey = ({ kind, optional, personal }: FieldDef): boolean => KEYS.has(kind) && !optional && personal === undefined;

const unsupportedOf = ({ owner = '', fields }: Kind, def: FieldDef): readonly string[] => [
  ...(['list', 'states', 'upload', 'date'].includes(def.kind) ? [`a field of the kind ${def.kind}`] : []),
  ...(def.unique ? ['unique()'] : []),
  ...(def.filter ? ['filter()'] : []),
  ...(def.sort ? ['sort()'] : []),
  ...(def.search ? ['search()'] : []),
  ...(def.personal !== undefined && (owner === '' || fields[owner]?.optional || (def.personal.of ?? owner) !== owner)
    ? ['what is personal of another than its owner']
    : []),
];

/** What is decided on an item is one event of it. */
const wrongCommand = (kind: Kind, { name, events, decide, requires, next }: CommandInfo): readonly string[] => {
  const leading = Object.values(kind.commands).find((each) => each.next.includes(name));
  return [
    ...(events.length > 1 || decide !== undefined
      ? [`${kind.name}: the command ${name} is of an item, and so emits one event and decides on none.`]
      : []),
    ...(requires.length + next.length > 0
      ? [`${kind.name}: the command ${name} is of an item, and so requires nothing and is followed by nothing.`]
      : []),
    ...(leading === undefined
      ? []
      : [`${kind.name}: the command ${leading.name} is followed by ${name}, which is of an item: leave that out.`]),
  ];
};

const isAskedFor = (list: ListInfo, condition: unknown): boolean => {
  if (typeof condition !== 'object' || condition === null) return false;
  if (Array.isArray(condition)) return condition.some((each) => isAskedFor(list, each));
  return Object.entries(condition).some(
    ([name, each]) => (name === list.name && typeof each === 'object' && each !== null && 'some' in each) || isAskedFor(list, each),
  );
};
