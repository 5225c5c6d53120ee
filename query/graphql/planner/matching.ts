import { pathId } from '#kernel/base/rest/path-id.ts';
import { isReadableWithItems } from '#kernel/conditions/references.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { stateMemberOf } from '../../rows/rights.ts';
import type { Filter, Member, Source, Sources } from '../../rows/source.ts';
import { memberName, orderName } from '../rules/names.ts';
import { type Arguments, at } from './arguments.ts';
import type { Row, Which } from './mapping.ts';
import type { Parameter, Value } from './parameter.ts';
import type { Readable } from './readable.ts';
import { allOf, Sql, sql } from './sql.ts';
import { searchText, storableText, storableValue } from './values.ts';

export type Options = { readonly domain: Domain; readonly sources: Sources; readonly readable: Readable };

/** Deleted users stay as rows for those who show their name. */
export const presence = ({ presence: by }: Source, row: Row): readonly Sql[] =>
  by ? [sql`${row}.${Sql.identifier(by.column)} is ${by.isNull ? sql`` : sql`not `}null`] : [];

type Wanted = {
  readonly row: Row;
  readonly args: Arguments;
  readonly under?: { readonly row: Row; readonly reference: string; readonly column: string };
};

/**
 * The rows that the caller may read and that match `filter`. Ordering by the time of a state lists only rows
 * in that state.
 */
export const matching = (
  { readable }: Options,
  source: Source,
  { row, args, under }: Wanted,
): readonly [Sql, ...Sql[]] => {
  const isUnder = under ? [sql`${row}.${Sql.identifier(under.column)} = ${under.row}.id`] : [];
  const filters = source.filters.filter(({ name }) => args.has('filter', name));
  const order = source.sorts.find((sort) =>
    [true, false].some((descending) => orderName(sort, descending) === args.choice('sort')),
  );
  const isState = ({ column }: Filter): boolean => column === stateMemberOf(source)?.column;
  const asked = filters.filter(isState).map(({ name }) => args.choice('filter', name));
  const states = [...asked, ...(order?.state === undefined ? [] : [order.state])];
  const conditions = [
    ...filters.filter((filter) => !isState(filter)).map((filter) => filterSql(filter, row, args)),
    ...(order?.isPartial ? [sql`${row}.${Sql.identifier(order.column)} is not null`] : []),
    // A guarded value that the caller may not read counts as absent. A caller who may read it of no row is
    // refused.
    ...[...new Set([order?.guard, ...filters.map(({ guard }) => guard)])].flatMap((guard) =>
      guard === undefined ? [] : [sql`(${readable.isAnywhere(guard)} and ${readable.rightTo(guard, row)})`],
    ),
  ];
  const joined = under && source.parent?.name === under.reference ? { [under.reference]: under.row } : {};
  const parts = readable
    .partsOf(source.right, row, joined)
    .filter(({ state = '' }) => states.every((each) => each === state));
  const [first = sql`false`, ...others] = parts.map(({ where }) =>
    allOf([...isUnder, ...presence(source, row), where, ...conditions]),
  );
  return [first, ...others];
};

const given =
  (name: string, read: (value: unknown) => Value) =>
  (values: unknown): Value =>
    read(at(values, ['filter', name]));

/**
 * The best plan depends on the value: a rare one is looked up, a frequent one is met while scanning the
 * order.
 */
const DECISIVE = { isDecisive: true };
const SEARCH = { ...DECISIVE, isSearch: true };

const typeOf = (def: Filter['def']): Parameter['type'] => {
  switch (def?.kind) {
    case 'integer':
      return 'bigint';
    case 'boolean':
      return 'boolean';
    case 'instant':
      return 'timestamptz';
    case 'date':
      return 'date';
    default:
      return 'text';
  }
};

export const filterSql = ({ name, column, by, def }: Filter, row: Row, args: Arguments): Sql => {
  const value = sql`${row}.${Sql.identifier(column)}`;
  switch (by) {
    case 'element':
      return sql`${value} @> array[${args.value('text', given(name, storableText), DECISIVE)}]`;
    case 'value':
      return sql`${value} = ${args.value(typeOf(def), given(name, storableValue))}`;
    // An invalid id matches no row.
    case 'id':
      return sql`${value} = ${args.value(
        'bigint',
        given(name, (id) => pathId(String(id)) ?? null),
      )}`;
    case 'words':
      return sql`${value} @@ websearch_to_tsquery('simple', ${args.value('text', given(name, searchText), SEARCH)})`;
  }
};

/** The targets of references of an item of a list, or of the row of a view, as far as the caller may read them. */
export const referencesTo = (
  { sources, readable, domain }: Options,
  kind: Kind,
  members: readonly Member[],
): readonly (readonly [name: string, which: Which])[] =>
  members.flatMap((member) => {
    const target = member.target && sources.of(member.target.name);
    if (!target) return [];
    const isThere = (other: Row): readonly Sql[] =>
      isReadableWithItems(domain, kind, member) ? [] : presence(target, other);
    const which: Which = (other, row) => [
      allOf([
        sql`${other}.id = ${row}.${Sql.identifier(member.column)}`,
        ...isThere(other),
        readable.rightTo(target.right, other),
      ]),
    ];
    return [[memberName(member), which] as const];
  });
