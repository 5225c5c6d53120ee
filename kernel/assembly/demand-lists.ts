import type { ZodNumber } from 'zod';
import { column, wire } from '../base/names.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import { wrongItemEvent } from './demand-item-events.ts';
import { PARAMETERS } from './demand-names.ts';
import { isErasedToAnother, isNeverGiven } from './demand-supported.ts';
import { eachCommand, eachEvent, eachKind, eachList, fieldsOf, type Sentences } from './refusals.ts';

/** Refuses lists that cannot work, each with a message that names the place and a solution. */
export const demandLists = eachKind(
  eachList(wrongList, wrongNames, wrongKey, wrongFields, wrongFilters),
  eachCommand(wrongCommand),
  eachEvent(wrongItemEvent, wrongCarried),
  eachCommand(wrongLeading),
);

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

function* wrongList(list: ListInfo, kind: Kind): Sentences {
  const { max, table } = list;
  if (!Number.isInteger(max) || max < 1 || max > ITEMS_MAX)
    yield `allows at most ${max} items: use a number from 1 to ${ITEMS_MAX}.`;
  if (table.length > TABLE_CHARACTERS_MAX)
    yield `has the table ${table}, which is longer than ${TABLE_CHARACTERS_MAX} characters: give it another name.`;
  for (const { name, effect } of Object.values(kind.events).filter((event) => event.list === list)) {
    if (effect === 'moves' && !list.isOrdered)
      yield `is not ordered, but the event ${name} moves its items: make it \`ordered\`.`;
    if (effect === 'updates' && Object.keys(list.fields).length === 0)
      yield `has no fields besides its key, but the event ${name} changes its items: remove that event.`;
  }
}

function* wrongNames(list: ListInfo, kind: Kind): Sentences {
  const { one, key, id } = list;
  const lists = Object.values(kind.lists);
  const identity = [
    `${kind.name}Id`,
    ...kind.identity.flatMap((each) => (each === kind.name ? [] : [each, wire(each, kind.fields[each])])),
  ];
  if (!NAME.test(one) || one === list.name)
    yield `calls an item ${one || 'nothing'}: choose another word with \`one\`.`;
  if (identity.includes(one) || identity.includes(`${one}Id`))
    yield `calls an item ${one}, a name that its events already use: choose another word with \`one\`.`;
  // In GraphQL, the field from an item to its aggregate has the aggregate’s name.
  const taken = new Set([...TAKEN, ...identity, kind.field, ...(key === undefined ? [id.name] : [])]);
  for (const [field, def] of fieldsOf(list))
    if (!NAME.test(field) || taken.has(field) || taken.has(wire(field, def)))
      yield `has the field ${field}, a name that is not valid or that its events already use: give it another name.`;
  const columns = fieldsOf(list).map(([field, def]) => column(field, def));
  for (const each of columns.filter((name, index) => columns.indexOf(name) < index))
    yield `has the column ${each} twice: give one of the fields another name.`;
  // Operations on items are named after the word for an item.
  const like = lists.slice(0, lists.indexOf(list)).find((each) => each.one === one);
  if (like !== undefined)
    yield `calls an item ${one}, as ${like.name} does: choose another word with \`one\`.`;
}

function* wrongKey({ key, id: { def } }: ListInfo): Sentences {
  if (key === undefined) return;
  if (!isKey(def))
    yield `has the key ${key}, which must be a reference, a number, a word or a choice that is neither optional nor personal.`;
  if (def.kind === 'integer' && ((def.recorded as ZodNumber).minValue ?? 0) < 1)
    yield `has the key ${key}, which may be less than 1, but paths need a positive number: set its minimum to 1.`;
}

const isKey = ({ kind, optional, personal }: FieldDef): boolean =>
  KEYS.has(kind) && !optional && personal === undefined;

const CHILDREN = 'declare an aggregate with a parent instead of the list';

function* wrongFields({ fields }: ListInfo): Sentences {
  for (const [field, def] of Object.entries(fields)) {
    const place = `has ${field} with`;
    const isFile = def.kind === 'upload';
    if (def.kind === 'list') yield `${place} a list of its own, which items cannot have: ${CHILDREN}.`;
    // Erasure would remove the address and keep the file.
    if (isFile && def.personal !== undefined)
      yield `${place} personal(), which no upload can be: remove it; files go with their aggregate.`;
    if (isNeverGiven(def)) yield `${place} an upload that no new item can have yet: make it optional().`;
    if (isErasedToAnother(def))
      yield `${place} the option \`erased\`, which a date cannot show: remove the option.`;
    if (def.unique)
      yield `${place} unique(), which only fields of aggregates can be: make it the \`key\` of the list, or ${CHILDREN}.`;
    if (def.filter && isFile) yield `${place} filter(), which lists and pictures cannot have: remove it.`;
    if (def.sort && def.kind !== 'instant')
      yield `${place} sort(), which needs an instant(): make the list \`ordered\`, or ${CHILDREN}.`;
    if (def.search)
      yield `${place} search(), which only fields of aggregates can have: ${CHILDREN}, or remove it.`;
  }
}

function* wrongFilters(list: ListInfo): Sentences {
  const names = fieldsOf(list).flatMap(([name, { filter }]) =>
    filter ? [filter === true ? name : filter] : [],
  );
  for (const [index, name] of names.entries())
    if (PARAMETERS.has(name) || names.indexOf(name) < index)
      yield `has the filter ${name}, which is a parameter of every list or belongs to two fields: rename it.`;
}

/** Fields of an item and of its aggregate share the event’s data, so their names must differ. */
function* wrongCarried({ list, carries }: EventInfo, kind: Kind): Sentences {
  if (list === undefined) return;
  const ofItem = [
    ...[list.id.name, 'rank'],
    ...Object.entries(list.fields).map(([field, def]) => wire(field, def)),
  ];
  for (const field of carries)
    if (ofItem.includes(wire(field, kind.fields[field])))
      yield `carries ${field}, but the item has a field with the same name: give one of the fields another name.`;
}

/**
 * All events of a command to an item concern this item, or set fields of its aggregate. A command to the aggregate
 * names the items of its events itself.
 */
function* wrongCommand({ events: [first, ...others], list, requires, next }: CommandInfo): Sentences {
  if (first === undefined || list === undefined) {
    for (const event of others) yield* wrongEventOfItems(event);
    return;
  }
  for (const event of others) {
    if (event.list !== undefined && event.list !== list)
      yield `emits events of ${list.name} and of ${event.list.name}: let it change items of one list only.`;
    const isOnItem = event.list === list && event.effect !== 'adds' && first.effect === 'adds';
    if (isOnItem || (event.effect === 'moves' && first.effect !== 'moves'))
      yield `emits ${event.name}, which needs the id or the place of an item that its form lacks: use another command.`;
    const ofItem = (event.item?.content ?? []).filter((field) => !first.item?.content.includes(field));
    const [surplus] = [...event.content, ...ofItem];
    if (surplus !== undefined)
      yield `emits ${event.name}, which takes ${surplus} from the form, but the form is that of ${first.name}: let it set or compute that field.`;
  }
  if (requires.length + next.length > 0) yield 'changes an item: remove its `requires` and `next`.';
}

/** A decision cannot give a file, which belongs to the item that it was uploaded to. */
function* wrongEventOfItems({ name, list, item }: EventInfo): Sentences {
  const given = [...(item?.content ?? []), ...(item?.computes ?? [])];
  const upload = given.find((field) => list?.fields[field]?.kind === 'upload');
  if (upload !== undefined)
    yield `emits ${name}, which sets the file ${upload} of an item: use an event without it, or a command to the item.`;
}

function* wrongLeading({ next }: CommandInfo, { commands }: Kind): Sentences {
  for (const name of next)
    if (commands[name]?.events.some(({ list }) => list !== undefined))
      yield `is followed by ${name}, which changes an item: remove it from \`next\`.`;
}
