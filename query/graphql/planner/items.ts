import { isReadableWithItems } from '#kernel/conditions/references.ts';
import type { ItemSource } from '../../rows/sources.ts';
import { memberName } from '../rules/names.ts';
import { itemOrder } from './cursors.ts';
import { instantJson, type Pieces, plainJson } from './json.ts';
import { jsonOf, type Options, presence } from './kinds.ts';
import type { Mapping, Row, Which } from './mapping.ts';
import { allOf, Sql, sql } from './sql.ts';

/**
 * Maps the items of a list to the read model. They are reachable only through their aggregate, and so as
 * readable as that.
 */
export const mappingOfItems = ({ sources, readable, domain }: Options, items: ItemSource): Mapping => {
  const { kind, list, of, members } = items;
  const references = members.flatMap((member): readonly (readonly [string, Which])[] => {
    const { target } = member;
    const source = target && sources.of(target.name);
    if (!source) return [];
    const isThere = (other: Row): readonly Sql[] =>
      isReadableWithItems(domain, kind, member) ? [] : presence(source, other);
    const which: Which = (other, row) => [
      allOf([
        sql`${other}.id = ${row}.${Sql.identifier(member.column)}`,
        ...isThere(other),
        readable.rightTo(source.right, other),
      ]),
    ];
    return [[memberName(member), which]];
  });
  return {
    table: sql`read_model.${Sql.identifier(list.table)}`,
    letter: 'i',
    values: {
      ...(list.key === undefined && { [list.id.name]: (row: Row) => plainJson(sql`${row}.id`) }),
      ...Object.fromEntries(
        members.flatMap((member) =>
          member.target
            ? []
            : [
                [
                  member.name,
                  (row: Row): Pieces => jsonOf(member, sql`${row}.${Sql.identifier(member.column)}`),
                ],
              ],
        ),
      ),
      createdAt: (row) => instantJson(sql`${row}.created_at`),
      updatedAt: (row) => instantJson(sql`${row}.updated_at`),
    },
    rows: {
      ...Object.fromEntries(references),
      [kind.field]: (aggregate, row) => [sql`${aggregate}.id = ${row}.${Sql.identifier(of)}`],
    },
    isReadable: () => sql`false`,
    orders: { inOrder: itemOrder(items) },
  };
};
