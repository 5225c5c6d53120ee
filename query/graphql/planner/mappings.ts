import { itemType } from '#kernel/base/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { sortedItems, sortsOfItems } from '../../rows/sorted-items.ts';
import type { ItemSource } from '../../rows/source.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { viewSourcesOf } from '../../views/source.ts';
import { listsOf, orderName } from '../rules/names.ts';
import { itemOrder } from './cursors.ts';
import { instantJson, type Pieces, plainJson } from './json.ts';
import { idsOf, jsonOf, managedMapping, mappingOf } from './kinds.ts';
import type { Mapping, Row, Which } from './mapping.ts';
import { matching, type Options, presence, referencesTo } from './matching.ts';
import { type Readable, viewerId } from './readable.ts';
import { allOf, Sql, sql } from './sql.ts';
import { mappingOfView, queriesOfView } from './views.ts';

/** Marks fields that read one row by its id argument; such reads of many requests share a statement. */
export const BY_ID = 'by id';

export type Mappings = {
  /** Every object type with rows. */
  readonly types: Readonly<Record<string, Mapping>>;
  /** The fields of `Query`. */
  readonly query: Readonly<Record<string, Which | typeof BY_ID>>;
};

export const mappingsOf = (domain: Domain, readable: Readable): Mappings => {
  const sources = sourcesOf(domain);
  const options = { domain, sources, readable };
  const views = viewSourcesOf(domain);
  const user = sources.of('user');
  const lists = sources.all
    .filter(({ parent }) => parent === undefined)
    .flatMap((source) => {
      const which: Which = (row, _query, args) => matching(options, source, { row, args });
      return [
        [listsOf(source.kind), which],
        [`${listsOf(source.kind)}Connection`, which],
      ];
    });
  return {
    types: {
      ...Object.fromEntries(sources.all.map((source) => [source.kind.type, mappingOf(options, source)])),
      ...Object.fromEntries(
        sources.all.flatMap(({ items }) =>
          items.map((each) => [itemType(each.kind, each.list), mappingOfItems(options, each)]),
        ),
      ),
      ...Object.fromEntries(views.map((view) => [view.view.type, mappingOfView(options, view)])),
      ...Object.fromEntries(
        sources.managed.map((source) => [source.kind.type, managedMapping(options, source)]),
      ),
    },
    query: {
      node: BY_ID,
      ...Object.fromEntries(sources.all.map(({ kind }) => [kind.field, BY_ID])),
      ...(user && { me: (row) => [allOf([sql`${row}.id = ${viewerId}`, ...presence(user, row)])] }),
      ...Object.fromEntries(lists),
      ...Object.fromEntries(views.flatMap((view) => queriesOfView(options, view))),
    },
  };
};

/**
 * Maps the items of a list to the read model. They are reachable only through their aggregate, and so as
 * readable as that.
 */
const mappingOfItems = ({ sources, readable, domain }: Options, items: ItemSource): Mapping => {
  const { kind, list, of, members } = items;
  const references = referencesTo({ sources, readable, domain }, kind, members);
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
      ...idsOf(members),
      createdAt: (row) => instantJson(sql`${row}.created_at`),
      updatedAt: (row) => instantJson(sql`${row}.updated_at`),
    },
    rows: {
      ...Object.fromEntries(references),
      [kind.field]: (aggregate, row) => [sql`${aggregate}.id = ${row}.${Sql.identifier(of)}`],
    },
    isReadable: () => sql`false`,
    orders: {
      inOrder: itemOrder(items),
      ...Object.fromEntries(
        sortsOfItems(items).map((each) => [
          orderName(each, each.descending),
          itemOrder(sortedItems(items, each.sort)),
        ]),
      ),
    },
  };
};
