// Over 200 lines, because it is one thing: items of lists, how they are folded and how events about them are
// drafted.

import { wire } from '../base/names.ts';
import { exists, isFull, notFound, Rejection } from '../base/rejection.ts';
import { constantsIn } from '../registry/constants-in.ts';
import type { EventInfo, Kind, ListInfo, Row } from '../registry/registry.ts';
import { areEqual } from './are-equal.ts';
import { itemValuesOf, type Sender } from './item-values.ts';
import { between, RANK_CHARACTERS_MAX, spread } from './rank.ts';
import type { Present } from './state.ts';

/** An item as decisions and conditions see it; its key is also under its declared name. */
type Item = Row & { readonly id: number | string; readonly rank?: string };

export const itemsOf = (fields: Row, list: ListInfo): readonly Item[] =>
  (fields[list.name] ?? []) as readonly Item[];

/** The empty lists of a new aggregate. */
export const withoutItems = ({ lists }: Kind): Row =>
  Object.fromEntries(Object.keys(lists).map((name) => [name, []]));

/** Computes the numbers that derive from a list. */
const derivedFrom = (kind: Kind, list: ListInfo): ((items: readonly Item[]) => Row) => {
  const own = kind.derived.filter((each) => each.list === list);
  return (items) =>
    Object.fromEntries(
      own.map(({ name, field }) => [
        name,
        field === undefined ? items.length : items.reduce((sum, item) => sum + Number(item[field]), 0),
      ]),
    );
};

type FoldItem = (state: Present, data: Row) => Present;

/** Applies an event to the items of its list, and keeps their order. */
export const itemFoldOf = (kind: Kind, event: EventInfo): FoldItem => {
  const list = listOf(event);
  const { name, key, id } = list;
  const given = givenBy(list);
  const placed = (items: readonly Item[]): readonly Item[] => items.toSorted(list.isOrdered ? byRank : byId);
  const numbers = derivedFrom(kind, list);
  const changed = (state: Present, items: readonly Item[]): Present => ({
    ...state,
    fields: { ...state.fields, [name]: items, ...numbers(items) },
  });
  switch (event.effect) {
    case 'adds': {
      const nothing = Object.fromEntries(
        Object.entries(list.fields).map(([field, def]) => [field, def.initial ?? null]),
      );
      return (state, data) => {
        const known = data[id.name] as Item['id'];
        const item = { id: known, ...(key !== undefined && { [key]: known }), ...nothing, ...given(data) };
        const others = itemsOf(state.fields, list).filter((each) => each.id !== known);
        const after = changed(state, placed([...others, item]));
        if (key !== undefined) return after;
        return {
          ...after,
          numbers: { ...state.numbers, [name]: Math.max(state.numbers?.[name] ?? 0, Number(known)) },
        };
      };
    }
    case 'removes':
      return (state, data) =>
        changed(
          state,
          itemsOf(state.fields, list).filter((each) => each.id !== data[id.name]),
        );
    default:
      return (state, data) => {
        const items = itemsOf(state.fields, list).map((each) =>
          each.id === data[id.name] ? { ...each, ...given(data) } : each,
        );
        return changed(state, event.effect === 'moves' ? placed(items) : items);
      };
  }
};

const byRank = (one: Item, other: Item): number =>
  one.rank === other.rank ? byId(one, other) : (one.rank ?? '') < (other.rank ?? '') ? -1 : 1;
const byId = (one: Item, other: Item): number => (one.id < other.id ? -1 : 1);

const listOf = ({ type, list }: EventInfo): ListInfo => {
  if (list === undefined) throw new Error(`${type} belongs to no declared list`);
  return list;
};

/** The fields of an item that an event contains. */
const givenBy = ({ fields, isOrdered }: ListInfo): ((data: Row) => Row) => {
  const pairs: readonly (readonly [string, string])[] = [
    ...Object.entries(fields).map(([name, def]) => [name, wire(name, def)] as const),
    ...(isOrdered ? [['rank', 'rank'] as const] : []),
  ];
  return (data) => {
    const values: Record<string, unknown> = {};
    for (const [name, from] of pairs) if (data[from] !== undefined) values[name] = data[from];
    return values;
  };
};

/** The name of an item in refusals and operations: `claim_item`. */
export const oneOfList = (kind: Kind, { one }: ListInfo): string => `${kind.name}_${one}`;

/**
 * The data of a command’s events: empty if nothing would change; a move yields several if ranks grew too
 * long.
 */
type DraftItem = (form: Row, state: Present, sender: Sender) => readonly Row[];
export const itemDraftOf = (kind: Kind, event: EventInfo): DraftItem => {
  const list = listOf(event);
  const { id, key } = list;
  const { content, valuesBy, differs, changes, initial } = itemValuesOf(list, event);
  const also = constantsIn(event.sets);
  const alsoChanges = ({ fields }: Present): boolean =>
    also.some(([name, value]) => !areEqual(value, fields[name]));
  const differing = (form: Row, item: Item): Row =>
    Object.fromEntries(
      content.flatMap(([name, from]) =>
        form[from] === undefined || areEqual(form[from], item[name]) ? [] : [[from, form[from]]],
      ),
    );
  /** The id of an item, and its fields that rights depend on. */
  const identified = (item: Item): Row => ({
    [id.name]: item.id,
    ...Object.fromEntries(list.settled.map((name) => [name, item[name]])),
  });
  const absent = () => new Rejection(notFound(oneOfList(kind, list)));
  const found = (form: Row, { fields }: Present): Item => {
    const item = itemsOf(fields, list).find((each) => each.id === form[id.name]);
    if (item === undefined) throw absent();
    return item;
  };
  switch (event.effect) {
    case 'adds':
      return (form, state, sender) => {
        const items = itemsOf(state.fields, list);
        const known = key === undefined ? undefined : items.find((each) => each.id === form[id.name]);
        if (known !== undefined) {
          // Adding an identical item again changes nothing.
          const isSame = Object.keys(differing(form, known)).length === 0 && !differs(known, sender);
          if (isSame && !alsoChanges(state)) return [];
          throw new Rejection(exists(oneOfList(kind, list)));
        }
        if (items.length >= list.max) throw new Rejection(isFull(kind.name, list.name), { max: list.max });
        const number = key === undefined ? (state.numbers?.[list.name] ?? 0) + 1 : form[id.name];
        const given = Object.fromEntries(content.map(([, from]) => [from, form[from]]));
        const item = { ...initial, ...given, ...valuesBy(sender) };
        // The item goes last, so that its rank stays short whatever ranks lie between the others.
        const ranked = list.isOrdered ? rankAt(items, items.length) : {};
        return [{ [id.name]: number, ...item, ...ranked }];
      };
    case 'updates':
      return (form, state, sender) => {
        const item = found(form, state);
        const changed = differing(form, item);
        const isChanged = Object.keys(changed).length > 0 || changes(item, sender) || alsoChanges(state);
        return isChanged ? [{ ...identified(item), ...changed, ...valuesBy(sender) }] : [];
      };
    case 'moves':
      return (form, state) => {
        const item = found(form, state);
        if (form.before === item.id) return [];
        const items = itemsOf(state.fields, list);
        const others = items.filter((each) => each !== item);
        const index = indexAmong(others, form.before);
        if (index < 0) throw absent();
        if (items.indexOf(item) === index) return [];
        return ranksAfterMove(item, others, index).map(([each, rank]) => ({ ...identified(each), rank }));
      };
    default:
      return (form, state) => {
        const { [list.name]: highest = 0 } = state.numbers ?? {};
        // The item existed and was removed: nothing to do.
        const isGone =
          key === undefined &&
          Number(form[id.name]) <= highest &&
          !itemsOf(state.fields, list).some((each) => each.id === form[id.name]);
        if (isGone) return [];
        return [identified(found(form, state))];
      };
  }
};

/** The new position of an item: before the named one, or last; -1 if there is no such item. */
const indexAmong = (others: readonly Item[], before: unknown): number =>
  (before ?? null) === null ? others.length : others.findIndex((each) => each.id === before);

/** The new rank of the moved item; of every item if there is no room, or a neighbour has no valid rank. */
const ranksAfterMove = (
  item: Item,
  others: readonly Item[],
  index: number,
): readonly (readonly [Item, string | undefined])[] => {
  const neighbours = others.slice(Math.max(0, index - 1), index + 1);
  const { rank } = areRanked(neighbours) ? rankAt(others, index) : {};
  if (rank !== undefined && rank.length <= RANK_CHARACTERS_MAX) return [[item, rank]];
  const ranks = spread(others.length + 1);
  return others.toSpliced(index, 0, item).map((each, place) => [each, ranks[place]]);
};

/** Ranks that domain code wrote may be missing or equal. */
const areRanked = (neighbours: readonly Item[]): boolean =>
  neighbours.every(
    ({ rank }, index) => rank !== undefined && (index === 0 || rank > (neighbours[index - 1]?.rank ?? '')),
  );

const rankAt = (items: readonly Item[], index: number): { readonly rank: string | undefined } => ({
  rank: between(items[index - 1]?.rank, items[index]?.rank),
});
