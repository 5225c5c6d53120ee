import type { ItemSource, Member } from './source.ts';

/**
 * A list in the order of one of its fields, as `-sentAt` names it: the latest first, and only items that have a
 * value. Without a sort, the list is in its own order.
 */
export const sortedItems = (items: ItemSource, sort: string | undefined): ItemSource => {
  if (sort === undefined) return items;
  const [descending, asked] = [sort.startsWith('-'), sort.replace(/^-/, '')];
  const found = items.sorts.find(({ name }) => name === asked);
  if (found === undefined) throw new RangeError(`${items.list.name} has no order ${sort}`);
  return {
    ...items,
    order: [{ name: found.column, type: 'timestamptz' }, ...items.order.slice(-1)],
    descending,
    isPartial: found.isPartial,
  };
};

/** The sorts of a list, in both directions. */
export const sortsOfItems = ({ sorts }: Pick<ItemSource, 'sorts'>) =>
  sorts.flatMap(({ name }) =>
    [false, true].map((descending) => ({ name, descending, sort: `${descending ? '-' : ''}${name}` })),
  );

/** The sorts of a list that is in its own order. */
export const ofOwnOrder = (
  members: readonly Member[],
): Pick<ItemSource, 'sorts' | 'descending' | 'isPartial'> => ({
  sorts: members.flatMap(({ name, def, column }) =>
    def.sort ? [{ name, column, isPartial: def.optional === true }] : [],
  ),
  descending: false,
  isPartial: false,
});
