import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import { isoText } from '#kernel/base/instant.ts';
import { kebab } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { itemIdIn } from '#kernel/rest/lists.ts';
import { withReferences } from '../kinds/item-references.ts';
import { isWholeTo, onlyOf, pageOf, type Stretch } from '../kinds/items.ts';
import type { Asked } from '../kinds/list.ts';
import { presentItems } from '../kinds/present-items.ts';
import type { ItemGap } from '../lists/item-cursor.ts';
import { type AskedItems, type AskedValue, gapOf, valuesOf } from '../lists/item-rows.ts';
import type { Reader } from '../rest/read-routes.ts';
import { sortedItems } from '../rows/sorted-items.ts';
import type { ItemSource } from '../rows/source.ts';
import { demandSource, type Row, sourcesOf } from '../rows/sources.ts';
import { pathOf } from './aggregates.ts';
import { isSeenNowBy } from './auditor.ts';
import type { createItemOpener } from './items.ts';
import { pastLinks } from './links.ts';
import type { Past } from './past.ts';
import { withheldNow } from './withheld.ts';

/** The items of a list in the past, nearest first. */
export const pastItems = async (
  past: Past,
  source: ItemSource,
  { of, asked }: { readonly of: number; readonly asked: AskedItems },
): Promise<readonly Row[]> => {
  const { after, before, isBackward, rowsMax, isWhole, only } = asked;
  const within = (await allPastItems(past, source, { of, isWhole, only })).filter((row) => {
    const gap = gapOf(source, row);
    return (
      (after === undefined || inOrder(source, after, gap) < 0) &&
      (before === undefined || inOrder(source, gap, before) < 0)
    );
  });
  return (isBackward ? within.toReversed() : within).slice(0, rowsMax);
};

type All = { readonly of: number } & Pick<AskedItems, 'isWhole' | 'only'>;

export const allPastItems = async (
  past: Past,
  source: ItemSource,
  { of, isWhole, only }: All,
): Promise<readonly Row[]> => {
  const { items } = await past.find(source.kind.name, of);
  const all = items.get(source.list.table) ?? [];
  return all
    .filter(
      (row) =>
        (isWhole || !isInPart(source, row)) &&
        only.every((each) => hasValue(row, each)) &&
        !(source.isPartial && row[source.order[0]?.name ?? ''] === null),
    )
    .toSorted((one, other) => inOrder(source, gapOf(source, one), gapOf(source, other)));
};

const hasValue = (row: Row, { column, by, value }: AskedValue): boolean => {
  const own = row[column] instanceof Date ? isoText(row[column]) : row[column];
  return by === 'element' ? Array.isArray(own) && own.includes(value) : own === value;
};

/** The complement of `outsideOf` for a row in memory. */
const isInPart = ({ part, members }: ItemSource, row: Row): boolean => {
  if (part === undefined) return false;
  const fields = members.map(
    ({ name, column }) => [name, row[column] instanceof Date ? isoText(row[column]) : row[column]] as const,
  );
  return holdsOf(part.of)(Object.fromEntries(fields), null, () => undefined);
};

/** Compares as PostgreSQL does with collation C: texts by their bytes. */
const inOrder = ({ descending }: ItemSource, one: ItemGap, other: ItemGap): number => {
  const others = valuesOf(other);
  for (const [index, value] of valuesOf(one).entries()) {
    const compared =
      typeof value === 'string'
        ? Buffer.compare(Buffer.from(value), Buffer.from(String(others[index])))
        : value - Number(others[index]);
    if (compared !== 0) return descending ? -compared : compared;
  }
  return 0;
};

type Opened = {
  readonly domain: Domain;
  readonly items: ItemSource;
  readonly open: ReturnType<typeof createItemOpener>;
  /** The current reads of the aggregate and of an item. */
  readonly now: Readonly<Record<'aggregate' | 'item', (reader: Reader) => Promise<unknown>>>;
};

/** The reads of a list’s items in the past, for callers who may read their aggregate at that time. */
export const pastItemReads = ({ domain, items, open, now }: Opened) => {
  const { kind, list } = items;
  const source = demandSource(sourcesOf(domain), kind.name);
  const present = presentItems(domain, source, items);
  const opened = async (reader: Reader, at: string) => {
    const { id, past, shown, isThereNow } = await open({ kind: kind.name, now: now.aggregate }, reader, at);
    const { represent } = present(reader.caller, { id, resource: shown.resource, hasRoom: false });
    const show = async (row: Row, latest?: string) => {
      const item = represent(
        await withReferences(domain, items, {
          row,
          find: (target, other) => past.row<Row>(target.name, other),
          isSeenNow: isSeenNowBy(past, reader.caller),
        }),
      );
      return { ...item, _links: pastLinks(domain, item._links, { at: past.cursor, latest }) };
    };
    const withheld = await withheldNow(past, source, { caller: reader.caller, id });
    const isWhole =
      isWholeTo(items)(reader.caller, shown.resource) && !withheld.has(items.part?.right ?? '.');
    return {
      id,
      past,
      show,
      isThereNow,
      isWhole,
      version: shown.version,
      path: `${pathOf(domain, kind.name, id)}/${kebab(list.name)}`,
    };
  };
  return {
    async list(reader: Reader, asked: Asked & { readonly at: string }): Promise<ListAnswer> {
      const { id, past, path, show, isWhole } = await opened(reader, asked.at);
      const sorted = sortedItems(items, asked.sort);
      const read = (stretch: Stretch) =>
        pastItems(past, sorted, { of: id, asked: { ...stretch, isWhole, only: onlyOf(items, asked) } });
      const { rows, links } = await pageOf({ items: sorted, path, read }, { ...asked, at: past.cursor });
      return {
        kind: 'list',
        items: await Promise.all(rows.map((row) => show(row))),
        links,
        headers: { 'As-Of': past.cursor },
      };
    },
    async item(reader: Reader, { at }: { readonly at: string }): Promise<ItemAnswer> {
      const { id, past, path, show, isThereNow, isWhole, version } = await opened(reader, at);
      const known = itemIdIn(list, reader.item ?? '');
      const row = (await allPastItems(past, items, { of: id, isWhole, only: [] })).find(
        (each) => each[list.id.column] === known,
      );
      if (row === undefined) throw new Rejection(items.absent);
      const latest =
        isThereNow && (await isThere(() => now.item(reader)))
          ? `${path}/${encodeURIComponent(String(known))}`
          : undefined;
      return {
        kind: 'item',
        version,
        item: await show(row, latest),
        headers: {
          'As-Of': past.cursor,
          'Memento-Datetime': (row.updated_at as Date).toUTCString(),
          ...(latest !== undefined && { Link: `<${latest}>; rel="original latest-version"` }),
        },
      };
    },
  };
};

const isThere = async (read: () => Promise<unknown>): Promise<boolean> => {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof Rejection) return false;
    throw error;
  }
};
