import { isoText } from '#kernel/base/instant.ts';
import { isReadableWithItems } from '#kernel/conditions/references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { ItemGap } from '../../lists/item-cursor.ts';
import { gapOf } from '../../lists/item-rows.ts';
import { sortedItems, sortsOfItems } from '../../rows/sorted-items.ts';
import type { ItemSource, Member, Source } from '../../rows/source.ts';
import { itemCursorOf, itemPositionOf } from '../planner/cursors.ts';
import { idArgument, memberName, orderName } from '../rules/names.ts';
import { boundsIn, connectionOf, pageSize } from './connections.ts';
import type { Context, Resolver } from './context.ts';
import { valuesIn } from './lists.ts';
import { demandRow, fieldValue, findTarget, idIn } from './reads.ts';
import type { ItemRow, Row } from './rows.ts';
import { uploadFieldsIn } from './uploads.ts';

type Resolvers = Readonly<Record<string, Resolver>>;

/** The fields of an aggregate that lead to the items of its lists. */
export const listsIn = ({ items }: Source): Resolvers =>
  Object.fromEntries(
    items.flatMap((each): readonly (readonly [string, Resolver])[] => {
      const { name } = each.list;
      const first: Resolver = async (row: Row, { limit, filter, sort }, context) =>
        context.loaders.items(sortedBy(each, sort), row.id, {
          ...{ after: undefined, before: undefined, isBackward: false, rowsMax: pageSize(limit) },
          isWhole: await isWholeTo(each, row, context),
          only: valuesIn(each, filter),
        });
      const pages: Resolver = (row: Row, args, context) => {
        const only = valuesIn(each, args.filter);
        const sorted = sortedBy(each, args.sort);
        return connectionOf<ItemRow, ItemGap>(
          boundsIn(args, (cursor) => itemPositionOf(sorted, cursor)),
          {
            read: async (asked) =>
              context.loaders.items(sorted, row.id, {
                ...asked,
                isWhole: await isWholeTo(each, row, context),
                only,
              }),
            cursorAt: (item) => itemCursorOf(sorted, gapOf(sorted, item)),
            count: async () =>
              context.loaders.countItems(sorted, row.id, {
                isWhole: await isWholeTo(each, row, context),
                only,
              }),
          },
        );
      };
      return [
        [name, first],
        [`${name}Connection`, pages],
      ];
    }),
  );

/** In the order that the enumeration names. */
const sortedBy = (items: ItemSource, given: unknown): ItemSource =>
  sortedItems(items, sortsOfItems(items).find((each) => orderName(each, each.descending) === given)?.sort);

/** True if the caller may read all items of an aggregate. */
export const isWholeTo = async ({ part }: ItemSource, row: Row, { loaders }: Context): Promise<boolean> =>
  part === undefined || loaders.mayRead(row, [part.right]);

/** The fields of an item, and its references. */
export const itemResolversOf = (domain: Domain, items: ItemSource): Resolvers => {
  const { kind, list, of, members } = items;
  return {
    ...(list.key === undefined && { [list.id.name]: (row: ItemRow) => String(row.id) }),
    ...Object.fromEntries(members.map((member) => [memberName(member), memberOf(domain, items, member)])),
    ...idsIn(members),
    ...Object.fromEntries(uploadFieldsIn(members, of)),
    createdAt: ({ created_at }: ItemRow) => isoText(created_at as Date),
    updatedAt: ({ updated_at }: ItemRow) => isoText(updated_at as Date),
    [kind.field]: (row: ItemRow, _args, context) => demandRow(context, kind.type, row[of] as number),
  };
};

/** The ids of references. */
export const idsIn = (members: readonly Member[]): Resolvers =>
  Object.fromEntries(
    members.flatMap((member) => (member.target ? [[idArgument(member), idIn(member.column)]] : [])),
  );

/** A field of a row that is found through its parent or by its key. */
export const memberOf = (domain: Domain, items: Pick<ItemSource, 'kind'>, member: Member): Resolver => {
  const { column, def, target } = member;
  if (!target) return (row: ItemRow) => fieldValue(def, row[column]);
  const shown = { kind: target, isReadable: isReadableWithItems(domain, items.kind, member) };
  return (row: ItemRow, _args, context) => findTarget(context, shown, row[column]);
};
