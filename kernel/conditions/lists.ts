import { column, snake } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import type { Domain, Kind, ListInfo, Row } from '../registry/registry.ts';
import { type Expression, fieldsOfItem, resolve } from './expression.ts';
import { childrenOf, kindAfter, type Question, questionsIn } from './fold.ts';
import { rightsOf } from './rights.ts';

/**
 * A list that conditions of rights and commands ask about. A read for a decision on rights loads only these
 * fields of the items.
 */
export type AskedList = {
  readonly list: ListInfo;
  /** The fields of the items that conditions ask for. */
  readonly fields: readonly string[];
  /** The fields of the items that conditions compare with the caller. */
  readonly callers: readonly string[];
};

/**
 * The lists of one kind that conditions ask about, directly or through references.
 */
export const askedListsOf = (domain: Domain, kind: Kind): readonly AskedList[] =>
  listsOf(domain).get(kind.name) ?? [];

const listsOf = oncePer((domain: Domain) => findLists(domain));

export const askedListOf = (domain: Domain, kind: Kind, name: string): AskedList | undefined =>
  askedListsOf(domain, kind).find(({ list }) => list.name === name);

const findLists = (domain: Domain): ReadonlyMap<string, readonly AskedList[]> => {
  const asked = new Map<string, Map<string, Set<Question>>>();
  const note: Note = (kind, list, asks) => {
    const lists = asked.get(kind.name) ?? new Map<string, Set<Question>>();
    asked.set(kind.name, lists);
    lists.set(list.name, new Set([...(lists.get(list.name) ?? []), ...asks]));
  };
  for (const { kind, alternatives } of rightsOf(domain).values())
    if (kind !== undefined) for (const each of alternatives) walk(domain, kind, each, note);
  for (const kind of Object.values(domain.kinds))
    for (const { when } of Object.values(kind.commands))
      if (when !== undefined) walk(domain, kind, resolve(domain, kind, when), note);
  return new Map(
    [...asked].map(([name, lists]) => [
      name,
      [...lists].flatMap(([each, asks]) => {
        const list = domain.kinds[name]?.lists[each];
        return list === undefined ? [] : [askedList(list, [...asks])];
      }),
    ]),
  );
};

type Note = (kind: Kind, list: ListInfo, asks: readonly Question[]) => void;

const askedList = (list: ListInfo, asks: readonly Question[]): AskedList => ({
  list,
  fields: [...new Set(asks.map(({ field }) => field))].toSorted(),
  callers: [...new Set(asks.flatMap(({ op, field }) => (op === 'caller' ? [field] : [])))].toSorted(),
});

const walk = (domain: Domain, kind: Kind, expression: Expression, note: Note): void => {
  for (const { asked, way } of questionsIn(expression)) {
    const of = kindAfter(domain, kind, way);
    const list = asked.op === 'some' ? of?.lists[asked.field] : undefined;
    if (asked.op === 'some' && of && list) note(of, list, childrenOf(asked.of));
  }
};

/**
 * The column for the asked-for fields of items, in rows that are read to decide rights. The dot keeps it
 * apart from names of fields.
 */
export const askedColumn = ({ list }: AskedList): string => `${list.name}.asked`;

/**
 * SQL that builds this column for the row named `row`: the fields of each item that conditions ask for, in
 * the format of states.
 */
export const askedItemsSql = (
  { list, fields }: AskedList,
  kind: Kind,
  { row, schema }: { row: string; schema: string },
): string => {
  const defs = fieldsOfItem(list);
  const pairs = fields.map((name) => {
    const value = `i.${column(name, defs[name])}`;
    return `'${name}', ${defs[name]?.kind === 'instant' ? isoSql(value) : value}`;
  });
  return `(select json_agg(json_build_object(${pairs.join(', ')})) from ${schema}.${list.table} i where i.${snake(kind.name)}_id = ${row}.id)`;
};

/** Instants in the format of states. */
const isoSql = (value: string): string =>
  `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Like `askedItemsSql`, for rows of items that are already read. */
export const askedItems = ({ list, fields }: AskedList, rows: readonly Row[]): readonly Row[] => {
  const defs = fieldsOfItem(list);
  const columns = fields.map((name) => [name, column(name, defs[name])] as const);
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(([name, each]) => {
        const value = row[each];
        return [name, value instanceof Date ? value.toISOString() : value];
      }),
    ),
  );
};
