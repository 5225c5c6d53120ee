// Over 200 lines, because it is one thing: how items of lists are found, shown and linked.
import { oneOfList } from '#kernel/decide/items.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { kebab, snake, wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { itemIdIn } from '#kernel/rest/lists.ts';
import { itemTableOf } from '#kernel/rows/items.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import type { Link } from '#shared/rest/fields.ts';
import { LIMIT_DEFAULT } from '#shared/rest/lists.ts';
import { pathId } from '#shared/rest/path-id.ts';
import type { ItemAnswer, ListAnswer } from '#shared/rest/reads/answer.ts';
import { listIdentity } from '../lists/cursor.ts';
import { formatItemCursor, type ItemGap, parseItemCursor } from '../lists/item-cursor.ts';
import type { Reader } from '../read-routes.ts';
import { type Row, type Source, sourcesOf } from '../sources.ts';
import { Parameters, runShared } from '../statement.ts';
import type { FindItem } from './find.ts';
import { possibleOf } from './links.ts';
import type { Asked } from './list.ts';
import { representationOf } from './representation.ts';
import { type ItemRow, resourceIn, roomOf } from './rows.ts';

/** The reads of the items of one list. Whoever may read an aggregate may read all of them. */
export type ItemReads = {
  list(reader: Reader, asked: Asked): Promise<ListAnswer>;
  item(reader: Reader): Promise<ItemAnswer>;
};

type Listing = { readonly domain: Domain; readonly pool: Pool; readonly source: Source; readonly list: ListInfo; readonly find: FindItem };

export const itemReadsOf = (listing: Listing): ItemReads => {
  const { domain, pool, source, list, find } = listing;
  const { kind, right } = source;
  const selection = selectionOf(domain, kind, list);
  const present = presentItems(domain, source, list);
  const above = ({ caller, id }: Reader): Promise<ItemRow> => find(pathId(id), (row) => may(caller, right, resourceIn(source, row)));
  return {
    async list(reader, asked) {
      const row = await above(reader);
      const path = `/${kind.path}/${row.id}/${kebab(list.name)}`;
      const { rows, links } = await pageOf({ pool, selection, path }, row.id, asked);
      const { represent, create } = present(reader.caller, row);
      return { kind: 'list', items: rows.map(represent), links, create };
    },
    async item(reader) {
      const row = await above(reader);
      const parameters = new Parameters();
      const given = itemIdIn(list, reader.item ?? '');
      const isIt = `${selection.of} = ${parameters.add(row.id)}::bigint and ${selection.id} = ${parameters.add(given ?? null)}::${list.id.def.column}`;
      const [found] = await runShared<Row>(pool, `${selection.text} where ${isIt}`, parameters.values);
      if (found === undefined) throw new Rejection(notFound(oneOfList(kind, list)));
      const version = representationOf(domain, source).to(reader.caller).versionOf(row);
      return { kind: 'item', version, item: present(reader.caller, row).represent(found) };
    },
  };
};

/** The fields of an item, with what tells it apart first. */
const fieldsOf = ({ key, id, fields }: ListInfo): readonly (readonly [string, FieldDef])[] => [
  ...(key === undefined ? [] : [[key, id.def] as const]),
  ...Object.entries(fields),
];

type Selection = { readonly text: string; readonly of: string; readonly id: string; readonly order: string; readonly idType: string };

/** With what is shown of what they refer to. */
const selectionOf = (domain: Domain, kind: Kind, list: ListInfo): Selection => {
  const {
    key: [of, id],
    order,
    name,
  } = itemTableOf(kind, list);
  const labelled = fieldsOf(list).flatMap(([field, def], index) => {
    const target = targetIn(domain, def);
    return target?.label === undefined ? [] : [{ field, def, target, label: target.label, alias: `r${index}` }];
  });
  const columns = labelled.map(({ field, label, alias }) => `, ${alias}.${snake(label)} as "${field}.${snake(label)}"`).join('');
  const joins = labelled.map(
    ({ field, def, target, alias }) => ` left join ${LIVE_SCHEMA}.${target.table} ${alias} on ${alias}.id = i.${snake(wire(field, def))}`,
  );
  return {
    text: `select i.*${columns} from ${LIVE_SCHEMA}.${name} i${joins.join('')}`,
    ...{ of: `i.${of}`, id: `i.${id}`, order: `i.${order}`, idType: list.id.def.column },
  };
};

const targetIn = (domain: Domain, def: FieldDef): Kind | undefined => {
  const { target } = def;
  return def.kind === 'ref' ? domain.kinds[typeof target === 'string' ? target : (target?.kind ?? '')] : undefined;
};

type Paged = { readonly pool: Pool; readonly selection: Selection; readonly path: string };

/** Keyset pages: a place in the list stays where it is whatever is added, moved and removed elsewhere. */
const pageOf = async ({ pool, selection, path }: Paged, aggregateId: number, { limit = LIMIT_DEFAULT, after, before }: Asked) => {
  const { order, id, idType, of } = selection;
  const identity = listIdentity({ path });
  const [text, isBackward] = [after ?? before, after === undefined && before !== undefined];
  const isSame = order === id;
  const gap = text === undefined ? undefined : parseItemCursor(identity, text, { idType, isRanked: !isSame });
  const parameters = new Parameters();
  const conditions = [`${of} = ${parameters.add(aggregateId)}::bigint`];
  if (gap !== undefined) {
    const beyond = isBackward ? '<' : '>';
    const place = `${parameters.add(gap.id)}::${idType}`;
    conditions.push(isSame ? `${id} ${beyond} ${place}` : `(${order}, ${id}) ${beyond} (${parameters.add(gap.rank)}, ${place})`);
  }
  const way = isBackward ? 'desc' : 'asc';
  const sorted = isSame ? `${id} ${way}` : `${order} ${way}, ${id} ${way}`;
  const found = await runShared<Row>(
    pool,
    `${selection.text} where ${conditions.join(' and ')} order by ${sorted} limit ${parameters.add(limit + 1)}::bigint`,
    parameters.values,
  );
  const nearest = found.slice(0, limit);
  const rows = isBackward ? nearest.toReversed() : nearest;
  const hasMore = found.length > limit;
  const gapAt = (row: Row | undefined): ItemGap | undefined =>
    row === undefined ? gap : { ...(!isSame && { rank: String(row[order.slice(2)]) }), id: row[id.slice(2)] as number | string };
  const href = (place: object): string => {
    const given = { ...(limit !== LIMIT_DEFAULT && { limit: String(limit) }), ...place } as Record<string, string>;
    return Object.keys(given).length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
  };
  const [first, last] = [gapAt(rows[0]), gapAt(rows.at(-1))];
  const isNext = isBackward ? gap !== undefined : hasMore;
  const isPrevious = isBackward ? hasMore : gap !== undefined;
  return {
    rows,
    links: {
      self: href({ ...(after !== undefined && { after }), ...(before !== undefined && { before }) }),
      ...(gap !== undefined && { first: href({}) }),
      ...(isPrevious && first && { prev: href({ before: formatItemCursor(identity, first) }) }),
      ...(isNext && last && { next: href({ after: formatItemCursor(identity, last) }) }),
    },
  };
};

type Presented = { represent(row: Row): object; readonly create: Link | undefined };

/** How items are shown to a caller, and what can be done with them. */
const presentItems = (domain: Domain, source: Source, list: ListInfo): ((caller: Caller, above: ItemRow) => Presented) => {
  const { kind } = source;
  const shown = fieldsOf(list).map(([name, def]) => readerOf(domain, name, def));
  const commands = Object.values(kind.commands).filter((command) => command.list === list && !command.internal);
  const possible = commands.map((command) => ({ command, mayBy: possibleOf(domain, source, command) }));
  const idColumn = list.id.column;
  return (caller, above) => {
    const resource = resourceIn(source, above);
    const path = `/${kind.path}/${above.id}/${kebab(list.name)}`;
    const now = possible.flatMap(({ command, mayBy }) => (mayBy(caller)?.(resource) ? [command] : []));
    const addition = now.find((command) => command.kind === 'addItem');
    const hasRoom = above[roomOf(list)] !== false;
    return {
      create: addition && hasRoom ? { href: path, method: 'POST' } : undefined,
      represent(row) {
        const self = `${path}/${encodeURIComponent(String(row[idColumn]))}`;
        const item: Record<string, unknown> = list.key === undefined ? { id: row[idColumn] } : {};
        const links: Record<string, Link> = { self: { href: self }, [kebab(kind.name)]: { href: `/${kind.path}/${above.id}` } };
        for (const read of shown) read(row, item, { links, caller });
        item.createdAt = (row.created_at as Date).toISOString();
        item.updatedAt = (row.updated_at as Date).toISOString();
        for (const command of now) Object.assign(links, linkOf(command, self));
        return { ...item, _links: links };
      },
    };
  };
};

const linkOf = ({ kind, name }: CommandInfo, self: string): Readonly<Record<string, Link>> => {
  switch (kind) {
    case 'changeItem':
      return { edit: { href: self, method: 'PATCH' } };
    case 'moveItem':
      return { [kebab(name)]: { href: `${self}/move`, method: 'POST' } };
    case 'removeItem':
      return { [kebab(name)]: { href: self, method: 'DELETE' } };
    default:
      return {};
  }
};

type Told = { readonly links: Record<string, Link>; readonly caller: Caller };
type ReadField = (row: Row, item: Record<string, unknown>, told: Told) => void;

const readerOf = (domain: Domain, name: string, def: FieldDef): ReadField => {
  const to = snake(wire(name, def));
  const target = targetIn(domain, def);
  const erased = def.personal?.erased;
  if (target === undefined) {
    return (row, item) => {
      const value = row[to];
      item[name] = value instanceof Date ? value.toISOString() : (value ?? erased ?? null);
    };
  }
  const right = sourcesOf(domain).of(target.name)?.right;
  const { label } = target;
  const joined = label === undefined ? undefined : `${name}.${snake(label)}`;
  const unknown = label === undefined ? undefined : (target.fields[label]?.personal?.erased ?? null);
  return (row, item, { links, caller }) => {
    const id = row[to];
    if (joined === undefined) item[wire(name, def)] = id;
    else item[name] = id === null ? null : { id, [label ?? '']: row[joined] ?? unknown };
    const isThere = joined === undefined ? typeof id === 'number' : row[joined] !== null;
    if (isThere && right !== undefined && may(caller, right, { fields: { id } } as Resource))
      links[kebab(name)] = { href: `/${target.path}/${id}` };
  };
};
