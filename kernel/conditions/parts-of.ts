import { oncePer } from '../base/once-per.ts';
import type { CommandInfo, EventInfo, Kind, ListInfo, Row } from '../registry/registry.ts';
import { always, type Expression, matching } from './expression.ts';
import { holdsOf } from './holds.ts';

/** Items of a list that fewer callers may read than the aggregate. */
type ItemPart = {
  readonly list: ListInfo;
  /**
   * The condition that selects them by their own fields; `always` if it covers all items. If a field of an
   * item is unknown, the item counts as selected.
   */
  readonly of: Expression;
};

/**
 * Parts of an aggregate that fewer callers may read than the rest, and the name of the right to read them.
 */
export type PartRight = {
  readonly name: string;
  /** Names of fields, of numbers derived from lists, and of the times of creation and last change. */
  readonly fields: readonly string[];
  readonly items: readonly ItemPart[];
};

export const partRightsOf = oncePer((kind: Kind): readonly PartRight[] => makeRights(kind));

const makeRights = (kind: Kind): readonly PartRight[] =>
  Object.entries(kind.fieldRights).flatMap(([name, { reads = [], items = {} }]): readonly PartRight[] => {
    if (!isOfParts(kind, name)) return [];
    const names = reads as readonly string[];
    const whole = names.flatMap((field) => kind.lists[field] ?? []).map((list) => ({ list, of: always }));
    const some = Object.entries(items as Record<string, Row>).flatMap(([list, values]) => {
      const found = kind.lists[list];
      return found === undefined
        ? []
        : [{ list: found, of: matching(`${kind.name}.${list}`, found.fields, values) }];
    });
    return [
      { name, fields: names.filter((field) => kind.lists[field] === undefined), items: [...whole, ...some] },
    ];
  });

/** True if a right of this name covers parts of an aggregate. */
export const isOfParts = ({ fieldRights }: Kind, name: string): boolean =>
  fieldRights[name]?.reads !== undefined || fieldRights[name]?.items !== undefined;

/** The part that contains all or some items of a list; a list has at most one. */
export const partOfItems = (kind: Kind, list: ListInfo): (ItemPart & { readonly name: string }) | undefined =>
  partRightsOf(kind)
    .flatMap(({ name, items }) => items.map((each) => ({ ...each, name })))
    .find((each) => each.list === list);

/** The name of the right that guards a field. */
export const guardOfField = (kind: Kind, field: string): string | undefined =>
  partRightsOf(kind).find(({ fields }) => fields.includes(field))?.name;

/** The fields that select items, with the values that an added item has whatever the form contains. */
export const settledBy = ({ fields, settled }: ListInfo, { item }: EventInfo): Row => {
  const { content = [], sets = {} } = item ?? {};
  const left = settled.filter((name) => !content.includes(name) && !Object.hasOwn(sets, name));
  return { ...Object.fromEntries(left.map((name) => [name, fields[name]?.initial ?? null])), ...sets };
};

const areKnown = (list: ListInfo, values: Row): boolean =>
  list.settled.every((name) => Object.hasOwn(values, name) && values[name] !== 'now');

/** True if every item that the event adds is in the part, whatever its form contains. */
const addsToPart = ({ list, of }: ItemPart, event: EventInfo): boolean => {
  const values = settledBy(list, event);
  return areKnown(list, values) && holdsOf(of)(values, null, () => undefined);
};

/** True if the event adds items that are never in the part, so that all readers of the aggregate see it. */
export const addsBesidePart = ({ list, of }: ItemPart, event: EventInfo): boolean => {
  const values = settledBy(list, event);
  return event.effect === 'adds' && areKnown(list, values) && !holdsOf(of)(values, null, () => undefined);
};

/**
 * The rights to parts that a command always writes: its whole form, or every item of its list. Callers cannot
 * write parts that they cannot read.
 */
export const partsWrittenBy = (
  kind: Kind,
  { kind: what, list, form, events }: CommandInfo,
): readonly string[] => {
  if (what === 'create') return [];
  if (list !== undefined) {
    const part = partOfItems(kind, list);
    const adds = events.length > 0 && events.every(({ effect }) => effect === 'adds');
    if (part === undefined) return [];
    const isAlways = part.of === always || (adds && events.every((event) => addsToPart(part, event)));
    return isAlways ? [part.name] : [];
  }
  const guards = form.map((field) => guardOfField(kind, field));
  return guards.includes(undefined) ? [] : [...new Set(guards.filter((each) => each !== undefined))];
};
