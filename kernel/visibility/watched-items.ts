import { wire } from '../base/names.ts';
import { fieldsOfItem } from '../conditions/expression.ts';
import type { State } from '../conditions/holds.ts';
import { type AskedList, askedListOf } from '../conditions/lists.ts';
import type { Domain, EventInfo, Kind, Row } from '../registry/registry.ts';

/** The effect of an event on a list that rights to read depend on; undefined if it has none. */
type FoldWatched = {
  readonly list: string;
  /** The fields of the items that rights ask for; `undefined` once an unreadable event makes them unknown. */
  apply(items: unknown, data: Row | undefined): readonly State[] | undefined;
};

/** An event changes the items of one list only. */
export const watchedItemsOf = (
  domain: Domain,
  kind: Kind,
  { event, lists }: Watched,
): FoldWatched | undefined => {
  const asked =
    event.list && lists.has(event.list.name) ? askedListOf(domain, kind, event.list.name) : undefined;
  const change = asked && changeOf(asked, event);
  if (asked === undefined || change === undefined) return undefined;
  return {
    list: asked.list.name,
    apply: (items, data) =>
      Array.isArray(items) && data !== undefined ? change(items as readonly State[], data) : undefined,
  };
};

type Watched = { readonly event: EventInfo; readonly lists: ReadonlySet<string> };
type Change = (items: readonly State[], data: Row) => readonly State[];

const changeOf = ({ list, fields }: AskedList, { effect }: EventInfo): Change | undefined => {
  const defs = fieldsOfItem(list);
  const given = fields
    .filter((name) => name !== list.key)
    .map((name) => [name, wire(name, defs[name])] as const);
  const idIn = (data: Row): unknown => data[list.id.name];
  const valuesIn = (data: Row): Row =>
    Object.fromEntries(
      given.flatMap(([name, key]) => (data[key] === undefined ? [] : [[name, data[key]] as const])),
    );
  switch (effect) {
    case 'adds': {
      const nothing = Object.fromEntries(given.map(([name]) => [name, defs[name]?.initial ?? null]));
      return (items, data) => {
        const id = idIn(data);
        const item = { id, ...(list.key !== undefined && { [list.key]: id }), ...nothing, ...valuesIn(data) };
        return [...items.filter((each) => each.id !== id), item];
      };
    }
    case 'removes':
      return (items, data) => items.filter(({ id }) => id !== idIn(data));
    case 'updates':
      if (given.length === 0) return undefined;
      return (items, data) => {
        const values = valuesIn(data);
        return Object.keys(values).length === 0
          ? items
          : items.map((each) => (each.id === idIn(data) ? { ...each, ...values } : each));
      };
    default:
      return undefined;
  }
};
