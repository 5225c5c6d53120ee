import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain, ListInfo, ViewInfo } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may } from '#shared/policy.ts';
import { ofAggregates, ofViews } from '#shared/rest/operations.ts';
import { whenAsked } from '#shared/when-asked.ts';
import { createItemFinder, type FindItem } from '../kinds/find.ts';
import type { ItemReads } from '../kinds/items.ts';
import { type Asked, readKindList } from '../kinds/list.ts';
import { representationOf } from '../kinds/representation.ts';
import { asParent, type ItemRow, resourceIn } from '../kinds/rows.ts';
import type { Reader, Reads } from '../rest/read-routes.ts';
import { isReadAsParent, resourceUnder } from '../rows/rights.ts';
import { poolFor, type ReadConnections } from '../rows/searches.ts';
import type { Source } from '../rows/source.ts';
import { demandItems, demandSource, sourcesOf } from '../rows/sources.ts';
import type { ViewReads } from '../views/reads.ts';

/** Executes one operation that reads aggregates. */
export type KindRead = (reader: Reader, asked: Asked) => Promise<ItemAnswer | ListAnswer>;

/** The reads of the current aggregates of a domain, users included. */
export type KindReads = {
  find(kind: string): FindItem;
  item(kind: string): (reader: Pick<Reader, 'caller' | 'id'>) => Promise<ItemAnswer>;
  items(kind: string, list: ListInfo): ItemReads;
  list(kind: string): (reader: Pick<Reader, 'caller' | 'id'>, asked: Asked) => Promise<ListAnswer>;
  view(view: ViewInfo): ViewReads;
  /** Lists what one user owns. */
  listOfUser(kind: string): (reader: Pick<Reader, 'caller' | 'id'>, asked: Asked) => Promise<ListAnswer>;
};

export const createKindReads = ({
  domain,
  pool,
  searches,
}: ReadConnections & { readonly domain: Domain }): KindReads => {
  const sources = sourcesOf(domain);
  const finders = new Map(sources.all.map((source) => [source.kind.name, createItemFinder(pool, source)]));
  const find = (kind: string): FindItem => {
    const finder = finders.get(kind);
    if (!finder) throw new RangeError(`The domain has no ${kind}`);
    return finder;
  };
  const poolOf = (asked: Asked): Promise<Pool> => poolFor({ pool, searches }, asked.q as string | undefined);
  // A search of users compares parts of texts, which no index supports, so it needs no check for one.
  const poolOfKind = (kind: string, asked: Asked): Promise<Pool> | Pool =>
    kind === 'user' && asked.q !== undefined ? searches.pool : poolOf(asked);
  const listUnder = async (
    source: Source,
    { caller, id }: Pick<Reader, 'caller' | 'id'>,
    asked: Asked,
  ): Promise<ListAnswer> => {
    const { kind, parent } = source;
    if (!parent?.target) {
      const create = representationOf(domain, source).creationBy(caller)();
      return readKindList({ domain, pool: await poolOfKind(kind.name, asked), source }, caller, {
        path: `/${kind.path}`,
        asked,
        create,
      });
    }
    const above = await find(parent.target.name)(pathId(id), (row) =>
      mayListUnder(domain, source, row, caller),
    );
    return readKindList({ domain, pool: await poolOf(asked), source }, caller, {
      path: `/${parent.target.path}/${above.id}/${kind.path}`,
      asked,
      under: { column: parent.column, id: above.id, row: asParent(source, above) },
      create: representationOf(domain, source).creationBy(caller)(above),
    });
  };
  return {
    find,
    item(kind) {
      const source = demandSource(sources, kind);
      const representation = representationOf(domain, source);
      const isSeen = isSeenBy(source);
      return async ({ caller, id }) => {
        const row = await find(kind)(pathId(id), (found) => isSeen(found, caller));
        const { represent, versionOf } = representation.to(caller);
        return { kind: 'item', version: versionOf(row), item: represent(row) };
      };
    },
    items: (kind, list) => {
      const source = demandSource(sources, kind);
      const reading = { domain, pool, source, items: demandItems(source, list), find: find(kind) };
      return bothWhenAsked(async () => (await import('../kinds/items.ts')).itemReadsOf(reading));
    },
    list: (kind) => (reader, asked) => listUnder(demandSource(sources, kind), reader, asked),
    view: (view) =>
      bothWhenAsked(async () => {
        const [{ viewReadsOf }, { demandViewSource }] = await Promise.all([
          import('../views/reads.ts'),
          import('../views/source.ts'),
        ]);
        return viewReadsOf({ domain, pool, source: demandViewSource(domain, view) });
      }),
    listOfUser:
      (kind) =>
      async ({ caller, id }, asked) => {
        const source = demandSource(sources, kind);
        const owner = await find('user')(pathId(id), () => true);
        const path = `/users/${owner.id}/${source.kind.path}`;
        const under = { column: source.owner?.column ?? '', id: owner.id };
        return readKindList({ domain, pool: await poolOf(asked), source }, caller, { path, asked, under });
      },
  };
};

type Both<Lister, Finder> = {
  list(reader: Lister, asked: Asked): Promise<ListAnswer>;
  item(reader: Finder): Promise<ItemAnswer>;
};

/** Not every domain has lists within aggregates, or views. */
const bothWhenAsked = <Lister, Finder>(make: () => Promise<Both<Lister, Finder>>): Both<Lister, Finder> => {
  const made = whenAsked(make);
  return {
    list: async (reader, asked) => (await made()).list(reader, asked),
    item: async (reader) => (await made()).item(reader),
  };
};

const isSeenBy =
  (source: Source) =>
  (row: ItemRow, caller: Caller): boolean =>
    may(caller, source.right, resourceIn(source, row));

/** True if there may be children that the caller may read. */
export const mayListUnder = (domain: Domain, source: Source, parent: ItemRow, caller: Caller): boolean => {
  const above = source.parent?.target && sourcesOf(domain).of(source.parent.target.name);
  if (!above) return false;
  const resource = resourceIn(above, parent);
  return isReadAsParent(source)
    ? may(caller, source.right, resourceUnder(above, resource))
    : may(caller, above.right, resource);
};

type UserReads = Pick<Reads, 'listUsers' | 'getUser' | 'getMe'>;

/** By operation id. */
export const readsOf = (domain: Domain, reads: KindReads): UserReads & Readonly<Record<string, KindRead>> => {
  const users = reads.item('user');
  const ofDomain = ofAggregates(domain).flatMap(([id, { use }]): readonly (readonly [string, KindRead])[] => {
    switch (use.does) {
      case 'list':
      case 'listOfUser':
        return [[id, reads[use.does](use.kind.name)]];
      case 'read':
        return [[id, reads.item(use.kind.name)]];
      case 'listItems':
        return [[id, reads.items(use.kind.name, use.list).list]];
      case 'readItem':
        return [[id, reads.items(use.kind.name, use.list).item]];
      default:
        return [];
    }
  });
  const views = ofViews(domain).map(
    ([
      id,
      {
        reads: { view, does },
      },
    ]): readonly [string, KindRead] => [id, reads.view(view)[does]],
  );
  return {
    ...Object.fromEntries([...ofDomain, ...views]),
    listUsers: reads.list('user'),
    getUser: users,
    getMe: ({ caller }) => users({ caller, id: caller.kind === 'user' ? String(caller.userId) : '' }),
  };
};
