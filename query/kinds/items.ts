// Over 200 lines, because it is one thing: how items of lists are found, shown and linked.

import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import { isoText } from '#kernel/base/instant.ts';
import { kebab, snake, sqlName, wire } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { always, conditionOnItem } from '#kernel/conditions/expression.ts';
import { holdsOf, type State } from '#kernel/conditions/holds.ts';
import { askedItemsSql } from '#kernel/conditions/lists.ts';
import { guardOfField } from '#kernel/conditions/parts-of.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { areEqual } from '#kernel/decide/are-equal.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { constantsIn } from '#kernel/registry/constants-in.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { itemIdIn } from '#kernel/rest/lists.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { type Caller, may, ownOf, type Resource, userIdOf } from '#shared/policy.ts';
import { listIdentity } from '../lists/cursor.ts';
import { formatItemCursor, type ItemGap, parseItemCursor } from '../lists/item-cursor.ts';
import { type AskedItems, findItem, gapOf, type Joins, listItems } from '../lists/item-rows.ts';
import type { Reader } from '../rest/read-routes.ts';
import {
  type ItemSource,
  type Member,
  type Needs,
  needsToRead,
  type Row,
  type Source,
} from '../rows/sources.ts';
import type { FindItem } from './find.ts';
import { fileLinks, possibleOf } from './links.ts';
import type { Asked } from './list.ts';
import { representationOf } from './representation.ts';
import { ENDED_COLUMN, hidesEnded, type ItemRow, joinedAs, resourceIn, roomOf } from './rows.ts';
import { type JoinedTarget, targetSeenBy, withheldColumn } from './targets.ts';

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
      const read = async (stretch: Stretch) =>
        (
          await listItems(pool, items, {
            of: [row.id],
            asked: { ...stretch, isWhole, only: onlyOf(items, asked) },
            joined,
          })
        ).get(row.id) ?? [];
      const { rows, links } = await pageOf({ items, path, read }, asked);
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

type Reference = JoinedTarget & {
  readonly column: string;
  readonly kind: Kind;
  readonly needs: Needs;
  /** The label of the target, among the columns of the row. */
  readonly label: { readonly column: string; readonly joined: string } | undefined;
};

/** The references of a row whose targets are joined to it: what they show, and what the right depends on. */
const joinedReferences = (domain: Domain, { members }: Pick<ItemSource, 'members'>): readonly Reference[] =>
  members.flatMap((member) => {
    const { name, column, target } = member;
    if (!target) return [];
    const label = target.label === undefined ? undefined : snake(target.label);
    return [
      {
        ...{ name, column, kind: target },
        right: operationOf(target, 'read'),
        needs: needsToRead(domain, target, name),
        hidesEnded: hidesEnded(member),
        label: label === undefined ? undefined : { column: label, joined: joinedAs([name], label) },
      },
    ];
  });

type Joining = { readonly kind: Kind; readonly needs: Needs; readonly alias: string; readonly on: string };

/** The columns of a target, and of the targets behind it on which the right depends. */
const joinsOf = ({ kind, needs, alias, on }: Joining): Joins => {
  const own = [
    ...needs.fields.map(({ column, joined }) => `, ${alias}.${column} as "${sqlName(joined)}"`),
    ...needs.lists.map(
      ({ joined, asked }) =>
        `, ${askedItemsSql(asked, kind, { row: alias, schema: LIVE_SCHEMA })} as "${sqlName(joined)}"`,
    ),
  ];
  const further = needs.behind.map((each, index) =>
    joinsOf({ ...each, alias: `${alias}_${index}`, on: `${alias}.${each.column}` }),
  );
  return {
    columns: [...own, ...further.map(({ columns }) => columns)].join(''),
    joins: [
      ` left join ${LIVE_SCHEMA}.${kind.table} ${alias} on ${alias}.id = ${on}`,
      ...further.map(({ joins }) => joins),
    ].join(''),
  };
};

export const referencesOf = (domain: Domain, source: Pick<ItemSource, 'members'>): Joins => {
  const all = joinedReferences(domain, source).map(({ name, kind, needs, column, label, ...more }, index) => {
    const alias = `r${index}`;
    const { columns, joins } = joinsOf({ kind, needs, alias, on: `i.${column}` });
    const ended = more.hidesEnded ? `, ${alias}.${ENDED_COLUMN} as "${joinedAs([name], ENDED_COLUMN)}"` : '';
    const shown = `${label === undefined ? '' : `, ${alias}.${label.column} as "${label.joined}"`}${ended}`;
    return { columns: `${columns}${shown}`, joins };
  });
  return {
    columns: all.map(({ columns }) => columns).join(''),
    joins: all.map(({ joins }) => joins).join(''),
  };
};

type Found = {
  readonly row: Row;
  readonly find: (kind: Kind, id: number) => Promise<Row | undefined>;
  /** Former targets are shown only to callers who may read them now too. */
  readonly isSeenNow: (kind: Kind, id: number) => Promise<boolean>;
};

/** The same for an item that was found by itself. */
export const withReferences = async (
  domain: Domain,
  items: ItemSource,
  { row, find, isSeenNow }: Found,
): Promise<Row> => {
  const whole: Record<string, unknown> = { ...row };
  const join = async (kind: Kind, needs: Needs, id: unknown): Promise<Row | undefined> => {
    const other = typeof id === 'number' ? await find(kind, id) : undefined;
    for (const { column, joined } of [...needs.fields, ...needs.lists])
      whole[sqlName(joined)] = other?.[column] ?? null;
    for (const each of needs.behind) await join(each.kind, each.needs, other?.[each.column]);
    return other;
  };
  for (const reference of joinedReferences(domain, items)) {
    const { kind, needs, column, label } = reference;
    const other = await join(kind, needs, row[column]);
    if (label !== undefined) whole[label.joined] = other?.[label.column] ?? null;
    if (reference.hidesEnded) whole[joinedAs([reference.name], ENDED_COLUMN)] = other?.[ENDED_COLUMN] ?? null;
    whole[withheldColumn(reference)] = other !== undefined && !(await isSeenNow(kind, row[column] as number));
  }
  return whole;
};

/** The filters of a request. */
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

/** Keyset pages: a cursor keeps its position, whatever is added, moved and removed elsewhere. */
export const pageOf = async (
  { items, path, read }: Paged,
  { limit = LIMIT_DEFAULT, after, before, at, ...asked }: Asked,
) => {
  const filters = Object.fromEntries(
    items.filters.flatMap(({ name }) => (asked[name] === undefined ? [] : [[name, String(asked[name])]])),
  );
  const identity = listIdentity({ path, ...filters });
  const [text, isBackward] = [after ?? before, after === undefined && before !== undefined];
  const gap = text === undefined ? undefined : parseItemCursor(identity, text, items);
  const places = isBackward ? { after: undefined, before: gap } : { after: gap, before: undefined };
  const found = await read({ ...places, isBackward, rowsMax: limit + 1 });
  const nearest = found.slice(0, limit);
  const rows = isBackward ? nearest.toReversed() : nearest;
  const hasMore = found.length > limit;
  const gapAt = (row: Row | undefined): ItemGap | undefined => (row === undefined ? gap : gapOf(items, row));
  const href = (place: object): string => {
    const given = {
      ...(limit !== LIMIT_DEFAULT && { limit: String(limit) }),
      ...filters,
      ...(at !== undefined && { at }),
      ...place,
    } as Record<string, string>;
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

/** The aggregate that has the items. */
type Above = { readonly id: number; readonly resource: Resource; readonly hasRoom: boolean };
type Presented = {
  represent(row: Row): { readonly _links: Readonly<Record<string, Link>> };
  readonly create: Link | undefined;
};

/** How items are shown to a caller, and the links to their actions. */
export const presentItems = (
  domain: Domain,
  source: Source,
  { list, members }: ItemSource,
): ((caller: Caller, above: Above) => Presented) => {
  const { kind } = source;
  const shown = members.map((member) => readerOf(domain, member));
  const commands = Object.values(kind.commands).filter(
    (command) => command.list === list && !command.internal,
  );
  const possible = commands.map((command) => ({ command, mayBy: possibleOf(domain, source, command) }));
  const idColumn = list.id.column;
  const uploads = uploadFieldsOf(kind).filter((upload) => upload.list === list);
  const columnOf = (name: string): string => members.find((member) => member.name === name)?.column ?? name;
  const itemIn = (row: Row): Row =>
    Object.fromEntries(
      members.map(({ name, column }) => {
        const value = row[column];
        return [name, value instanceof Date ? isoText(value) : value];
      }),
    );
  const offered = new Map(
    commands.map((command) => {
      const [changes, condition] = [
        changesOf(kind, command, columnOf),
        conditionOnItem(domain, kind, command),
      ];
      return [command, { changes, holds: condition === always ? undefined : holdsOf(condition) }] as const;
    }),
  );
  return (caller, above) => {
    const [userId, own] = [userIdOf(caller), ownOf(caller)];
    const isOffered = (command: CommandInfo, row: Row): boolean => {
      const { changes = () => true, holds } = offered.get(command) ?? {};
      return (
        changes(row, above.resource.fields ?? {}) &&
        (holds === undefined || holds(itemIn(row), userId, () => undefined, own))
      );
    };
    const readers = shown.map((readFor) => readFor(caller));
    const path = `/${kind.path}/${above.id}/${kebab(list.name)}`;
    const now = possible.flatMap(({ command, mayBy }) => (mayBy(caller)?.(above.resource) ? [command] : []));
    const addition = now.find((command) => command.kind === 'addItem' && command.verb === undefined);
    return {
      create: addition && above.hasRoom ? { href: path, method: 'POST' } : undefined,
      represent(row) {
        const self = `${path}/${encodeURIComponent(String(row[idColumn]))}`;
        const item: Record<string, unknown> = list.key === undefined ? { id: row[idColumn] } : {};
        const links: Record<string, Link> = {
          self: { href: self },
          [kebab(kind.name)]: { href: `/${kind.path}/${above.id}` },
        };
        for (const read of readers) read(row, item, links);
        item.createdAt = isoText(row.created_at as Date);
        item.updatedAt = isoText(row.updated_at as Date);
        for (const command of now) if (isOffered(command, row)) Object.assign(links, linkOf(command, self));
        for (const { name, command } of uploads)
          if (now.includes(command) && isOffered(command, row))
            Object.assign(links, fileLinks(name, list.fields[name] ?? {}, [self, row[columnOf(name)]]));
        return Object.assign(item, { _links: links });
      },
    };
  };
};

/**
 * Whether a command could change something: one without a form, only if the item or the aggregate lacks a
 * value that it sets. A missing link must not reveal the current value of a guarded field.
 */
const changesOf = (
  kind: Kind,
  { itemForm, events: [event, ...others] }: CommandInfo,
  columnOf: (name: string) => string,
): ((row: Row, above: State) => boolean) => {
  const set = constantsIn(event?.item?.sets).map(([name, value]) => [columnOf(name), value] as const);
  const also = constantsIn(event?.sets);
  const isAny =
    itemForm.length + others.length + (event?.item?.computes.length ?? 0) > 0 ||
    set.length === 0 ||
    also.some(([name]) => guardOfField(kind, name) !== undefined);
  if (isAny) return () => true;
  return (row, above) =>
    set.some(([column, value]) => row[column] !== value) ||
    also.some(([name, value]) => !areEqual(value, above[name]));
};

const linkOf = ({ kind, name, verb }: CommandInfo, self: string): Readonly<Record<string, Link>> => {
  if (kind === 'addItem') return {};
  if (verb !== undefined) return { [kebab(name)]: { href: `${self}/${kebab(verb)}`, method: 'POST' } };
  return kind === 'changeItem'
    ? { edit: { href: self, method: 'PATCH' } }
    : { [kebab(name)]: { href: self, method: 'DELETE' } };
};

type ReadField = (row: Row, item: Record<string, unknown>, links: Record<string, Link>) => void;

/** How a field of an item or of a row of a view is shown to a caller. */
export const readerOf = (domain: Domain, member: Member): ((caller: Caller) => ReadField) => {
  const { name, def, column } = member;
  const [reference] = joinedReferences(domain, { members: [member] });
  if (reference === undefined) {
    const erased = def.personal?.erased;
    return () => (row, item) => {
      const value = row[column];
      item[name] = value instanceof Date ? isoText(value) : (value ?? erased ?? null);
    };
  }
  const { kind: target, label } = reference;
  const erased = target.fields[target.label ?? '']?.personal?.erased ?? null;
  const isSeenBy = targetSeenBy(reference);
  return (caller) => {
    const isSeen = isSeenBy(caller);
    return (row, item, links) => {
      const id = row[column];
      const shown = isSeen(row);
      if (label === undefined) item[wire(name, def)] = id;
      else
        item[name] =
          id === null ? null : { id, [target.label ?? '']: shown ? (row[label.joined] ?? erased) : null };
      if (shown) links[kebab(name)] = { href: `/${target.path}/${id}` };
    };
  };
};
