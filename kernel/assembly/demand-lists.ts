import type { ZodNumber } from 'zod';
import { column, wire } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import { wrongItemEventsIn } from './demand-item-events.ts';
import { unsupportedOf, wrongFiltersOf } from './demand-item-fields.ts';
import { wrongConditionsOnItems } from './list-conditions.ts';

/** Refuses lists that cannot work, each with a message that names the place and a solution. */
export const demandLists = (domain: Domain): void => {
  const kinds = Object.values(domain.kinds);
  const [wrong] = [...kinds.flatMap(wrongListsIn), ...wrongConditionsOnItems(domain)];
  if (wrong !== undefined) throw new StartRefused(wrong);
};

/** A decision on one item loads the whole list into memory. */
const ITEMS_MAX = 1_000;
const NAME = /^[a-z][a-zA-Z0-9]{0,39}$/;
/** PostgreSQL adds suffixes to it for the names of triggers. */
const TABLE_CHARACTERS_MAX = 38;
const KEYS: ReadonlySet<FieldDef['kind']> = new Set(['ref', 'integer', 'text', 'choice']);
/** Names that every row, event or form of an item already uses. */
const TAKEN = new Set(
  'id rank before version seal type links createdAt updatedAt ctid xmin xmax cmin cmax tableoid'.split(' '),
);

const wrongListsIn = (kind: Kind): readonly string[] => [
  ...Object.values(kind.lists).flatMap((list) => [
    ...[...wrongOf(kind, list), ...twiceIn(kind, list), ...wrongFiltersOf(list)].map(
      (wrong) => `${kind.name}: the list ${list.name} ${wrong}`,
    ),
    ...Object.values(kind.commands).flatMap((command) =>
      command.events.some((event) => event.list === list) ? wrongCommand(kind, command) : [],
    ),
  ]),
  ...wrongItemEventsIn(kind),
  ...Object.values(kind.events).flatMap((event) => wrongEvent(kind, event)),
];

const wrongOf = (kind: Kind, list: ListInfo): readonly string[] => {
  const { fields, key, id, max, isOrdered, one, name, table } = list;
  const all = Object.entries(fields);
  const identity = [kind.name, ...kind.identity].flatMap((each) =>
    each === kind.name ? [`${each}Id`] : [each, wire(each, kind.fields[each])],
  );
  // In GraphQL, the field from an item to its aggregate has the aggregate’s name.
  const taken = new Set([...TAKEN, ...identity, kind.field, ...(key === undefined ? [id.name] : [])]);
  const names = [...all, ...(key === undefined ? [] : [[key, id.def] as const])];
  const columns = names.map(([field, def]) => column(field, def));
  const moving = Object.values(kind.events).find((event) => event.list === list && event.effect === 'moves');
  const empty = Object.values(kind.events).find(
    (event) => event.list === list && event.effect === 'updates' && all.length === 0,
  );
  return [
    ...(Number.isInteger(max) && max >= 1 && max <= ITEMS_MAX
      ? []
      : [`allows at most ${max} items: use a number from 1 to ${ITEMS_MAX}.`]),
    ...(NAME.test(one) && one !== name
      ? []
      : [`calls an item ${one || 'nothing'}: choose another word with \`one\`.`]),
    ...([one, `${one}Id`].some((each) => identity.includes(each))
      ? [`calls an item ${one}, a name that its events already use: choose another word with \`one\`.`]
      : []),
    ...(table.length <= TABLE_CHARACTERS_MAX
      ? []
      : [
          `has the table ${table}, which is longer than ${TABLE_CHARACTERS_MAX} characters: give it another name.`,
        ]),
    ...names.flatMap(([field, def]) =>
      !NAME.test(field) || taken.has(field) || taken.has(wire(field, def))
        ? [
            `has the field ${field}, a name that is not valid or that its events already use: give it another name.`,
          ]
        : [],
    ),
    ...columns.flatMap((each, index) =>
      columns.indexOf(each) < index
        ? [`has the column ${each} twice: give one of the fields another name.`]
        : [],
    ),
    ...(key === undefined || isKey(id.def)
      ? []
      : [
          `has the key ${key}, which must be a reference, a number, a word or a choice that is neither optional nor personal.`,
        ]),
    ...(key !== undefined && id.def.kind === 'integer' && ((id.def.recorded as ZodNumber).minValue ?? 0) < 1
      ? [
          `has the key ${key}, which may be less than 1, but paths need a positive number: set its minimum to 1.`,
        ]
      : []),
    ...all.flatMap(([field, def]) => unsupportedOf(def).map((what) => `has ${field} with ${what}`)),
    ...(moving !== undefined && !isOrdered
      ? [`is not ordered, but the event ${moving.name} moves its items: make it \`ordered\`.`]
      : []),
    ...(empty !== undefined
      ? [`has no fields besides its key, but the event ${empty.name} changes its items: remove that event.`]
      : []),
  ];
};

const isKey = ({ kind, optional, personal }: FieldDef): boolean =>
  KEYS.has(kind) && !optional && personal === undefined;

/** Operations on items are named after the word for an item. */
const twiceIn = (kind: Kind, list: ListInfo): readonly string[] => {
  const lists = Object.values(kind.lists);
  const like = lists.slice(0, lists.indexOf(list)).find(({ one }) => one === list.one);
  return like === undefined
    ? []
    : [`calls an item ${list.one}, as ${like.name} does: choose another word with \`one\`.`];
};

/** Fields of an item and of its aggregate share the event’s data, so their names must differ. */
const wrongEvent = (kind: Kind, { name, list, carries }: EventInfo): readonly string[] => {
  if (list === undefined) return [];
  const ofItem = new Set([
    list.id.name,
    'rank',
    ...Object.entries(list.fields).map(([field, def]) => wire(field, def)),
  ]);
  return carries.flatMap((field) =>
    ofItem.has(wire(field, kind.fields[field]))
      ? [
          `${kind.name}: the event ${name} carries ${field}, but the item has a field with the same name: give one of the fields another name.`,
        ]
      : [],
  );
};

/** All events of a command concern one item, or set fields of its aggregate. */
const wrongCommand = (
  kind: Kind,
  { name, events: [first, ...others], list, requires, next }: CommandInfo,
): readonly string[] => {
  const place = `${kind.name}: the command ${name} emits`;
  const leading = Object.values(kind.commands).find((each) => each.next.includes(name));
  if (first === undefined || list === undefined)
    return [`${place} an event of an item after one of the aggregate: name the event of the item first.`];
  const sent = new Set(first.item?.content);
  return [
    ...others.flatMap((event) => {
      if (event.list !== undefined && event.list !== list)
        return [
          `${place} events of ${list.name} and of ${event.list.name}: let it change items of one list only.`,
        ];
      const isApart =
        (first.effect === 'adds') !== (event.effect === 'adds') &&
        event.effect !== 'adds' &&
        event.list === list;
      if (isApart || (event.effect === 'moves' && first.effect !== 'moves'))
        return [
          `${place} ${event.name}, which needs the id or the place of an item that its form lacks: use another command.`,
        ];
      const surplus = [
        ...event.content,
        ...(event.item?.content ?? []).filter((field) => !sent.has(field)),
      ][0];
      return surplus === undefined
        ? []
        : [
            `${place} ${event.name}, which takes ${surplus} from the form, but the form is that of ${first.name}: let it set or compute that field.`,
          ];
    }),
    ...(requires.length + next.length > 0
      ? [`${kind.name}: the command ${name} changes an item: remove its \`requires\` and \`next\`.`]
      : []),
    ...(leading === undefined
      ? []
      : [
          `${kind.name}: the command ${leading.name} is followed by ${name}, which changes an item: remove it from \`next\`.`,
        ]),
  ];
};
