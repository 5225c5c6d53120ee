import { itemType } from '#kernel/base/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { viewSourcesOf } from '../../views/source.ts';
import { listsOf } from '../rules/names.ts';
import { mappingOfItems } from './items.ts';
import { managedMapping, mappingOf, matching, presence } from './kinds.ts';
import type { Mapping, Which } from './mapping.ts';
import { type Readable, viewerId } from './readable.ts';
import { allOf, sql } from './sql.ts';
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
