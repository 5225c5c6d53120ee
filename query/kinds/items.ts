import { linksOfPage, readPage } from '#edge/rest/pages.ts';
import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import { kebab } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { itemIdIn } from '#kernel/rest/lists.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';
import { listIdentity } from '../lists/cursor.ts';
import { formatItemCursor, type ItemGap, parseItemCursor } from '../lists/item-cursor.ts';
import { type AskedItems, findItem, gapOf, listItems } from '../lists/item-rows.ts';
import type { Reader } from '../rest/read-routes.ts';
import { sortedItems } from '../rows/sorted-items.ts';
import type { ItemSource, Source } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import type { FindItem } from './find.ts';
import { referencesOf } from './item-references.ts';
import type { Asked } from './list.ts';
import { type Above, presentItems } from './present-items.ts';
import { representationOf } from './representation.ts';
import { type ItemRow, resourceIn } from './rows.ts';
import { roomOf } from './selection.ts';

/**
 * The reads of the items of one list. Readers of the aggregate may read all of them, except those that need a
 * right of their own.
 */
export type ItemReads = {
  list(reader: Reader, asked: Asked): Promise<ListAnswer>;
  item(reader: Reader): Promise<ItemAnswer>;
};

type Listing = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly source: Source;
  readonly items: ItemSource;
  readonly find: FindItem;
};

export const itemReadsOf = (listing: Listing): ItemReads => {
  const { domain, pool, source, items, find } = listing;
  const { kind, right } = source;
  const { list, absent } = items;
  const joined = referencesOf(domain, items);
  const present = presentItems(domain, source, items);
  const mayRead = isWholeTo(items);
  const aboveOf = (row: ItemRow): Above => ({
    id: row.id,
    resource: resourceIn(source, row),
    hasRoom: row[roomOf(list)] !== false,
  });
  const above = ({ caller, id }: Reader): Promise<ItemRow> =>
    find(pathId(id), (row) => may(caller, right, resourceIn(source, row)));
  return {
    async list(reader, asked) {
      const row = await above(reader);
      const path = `/${kind.path}/${row.id}/${kebab(list.name)}`;
      const isWhole = mayRead(reader.caller, resourceIn(source, row));
      const sorted = sortedItems(items, asked.sort);
      const read = async (stretch: Stretch) =>
        (
          await listItems(pool, sorted, {
            of: [row.id],
            asked: { ...stretch, isWhole, only: onlyOf(items, asked) },
            joined,
          })
        ).get(row.id) ?? [];
      const { rows, links } = await pageOf({ items: sorted, path, read }, asked);
      const { represent, create } = present(reader.caller, aboveOf(row));
      return { kind: 'list', items: rows.map(represent), links, create };
    },
    async item(reader) {
      const row = await above(reader);
      const id = itemIdIn(list, reader.item ?? '');
      const isWhole = mayRead(reader.caller, resourceIn(source, row));
      const found =
        id === undefined ? undefined : await findItem(pool, items, { of: row.id, id, joined, isWhole });
      if (found === undefined) throw new Rejection(absent);
      const version = representationOf(domain, source).to(reader.caller).versionOf(row);
      return { kind: 'item', version, item: present(reader.caller, aboveOf(row)).represent(found) };
    },
  };
};

/** True if a caller may read all items of an aggregate. */
export const isWholeTo =
  ({ part }: ItemSource): ((caller: Caller, resource: Resource) => boolean) =>
  (caller, resource) =>
    part === undefined || may(caller, part.right, resource);

export const onlyOf = ({ filters }: ItemSource, asked: Asked): AskedItems['only'] =>
  filters.flatMap(({ name, column, by }) => {
    const value = asked[name];
    return value === undefined ? [] : [{ column, by, value: by === 'id' ? Number(value) : value }];
  });

export type Stretch = Omit<AskedItems, 'isWhole' | 'only'>;
type Paged = {
  readonly items: ItemSource;
  readonly path: string;
  read(asked: Stretch): Promise<readonly Row[]>;
};

export const pageOf = async (
  { items, path, read }: Paged,
  { limit = LIMIT_DEFAULT, after, before, at, ...asked }: Asked,
) => {
  const filters = Object.fromEntries(
    [...items.filters, { name: 'sort' }].flatMap(({ name }) =>
      asked[name] === undefined ? [] : [[name, String(asked[name])]],
    ),
  );
  const identity = listIdentity({ path, ...filters });
  const page = await readPage<Row, ItemGap>(
    { limit, after, before },
    {
      parse: (cursor) => parseItemCursor(identity, cursor, items),
      format: (gap) => formatItemCursor(identity, gap),
      positionOf: (row) => gapOf(items, row),
      read,
    },
  );
  const shown = { ...(limit !== LIMIT_DEFAULT && { limit }), ...filters, at, after, before };
  return { rows: page.rows, links: linksOfPage(path, shown, page) };
};
