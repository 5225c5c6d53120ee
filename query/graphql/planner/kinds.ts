import { RESERVED } from '#kernel/assembly/demand-names.ts';
import type { Member, Source } from '../../rows/source.ts';
import { demandSource, rightsToField } from '../../rows/sources.ts';
import { idArgument, listsOf, memberName, orderName } from '../rules/names.ts';
import type { Arguments } from './arguments.ts';
import { instantOrder } from './cursors.ts';
import { booleanJson, concatenated, instantJson, orNull, type Pieces, plainJson, textJson } from './json.ts';
import type { Mapping, Row, Which } from './mapping.ts';
import { countMarkOf, markOf } from './marks.ts';
import { filterSql, matching, type Options, presence } from './matching.ts';
import { allOf, literal, Sql, sql } from './sql.ts';

/** Maps the aggregates of one kind to the read model, from its declaration. */
export const mappingOf = (options: Options, source: Source): Mapping => {
  const { rightTo } = options.readable;
  const { kind, members, parent, right, sorts, isNewestFirst } = source;
  const isReadableAlone = (row: Row): Sql => rightTo(right, row);
  return {
    table: sql`read_model.${Sql.identifier(kind.table)}`,
    letter: kind.name.charAt(0),
    values: {
      id: (row) => plainJson(sql`${row}.id`),
      ...Object.fromEntries(members.flatMap((member) => memberOf(options, source, member))),
      createdAt: guarded(options, source, 'createdAt', (row) => instantJson(sql`${row}.created_at`)),
      updatedAt: guarded(options, source, 'updatedAt', (row) => instantJson(sql`${row}.updated_at`)),
      version: guarded(options, source, 'version', (row) => sql`${row}.version::text`),
      // The planner reads current rows only.
      asOf: () => 'null',
    },
    mark: markOf(options, kind.type, source),
    countMark: countMarkOf(options, kind),
    rows: { ...referencesOf(options, source), ...childrenOf(options, source), ...itemsOf(options, source) },
    isReadable: parent
      ? (row) => isReadableUnder(options, source, row)
      : (row) => allOf([...presence(source, row), isReadableAlone(row)]),
    orders: Object.fromEntries(
      sorts.flatMap((sort) =>
        [isNewestFirst, !isNewestFirst].map((descending) => [
          orderName(sort, descending),
          instantOrder(kind.type, sort.column, descending),
        ]),
      ),
    ),
  };
};

/** Webhooks are left to the resolvers, except for the id, because `node` may lead to one. */
export const managedMapping = ({ readable }: Options, source: Source): Mapping => ({
  table: sql`read_model.${Sql.identifier(source.kind.table)}`,
  letter: 'w',
  values: { id: (row) => plainJson(sql`${row}.id`) },
  rows: {},
  isReadable: (row) => allOf([...presence(source, row), readable.rightTo(source.right, row)]),
  orders: {},
});

/** Null for callers without the right. */
const guarded = (
  { readable }: Options,
  source: Source,
  field: string,
  json: (row: Row) => Pieces,
): ((row: Row) => Pieces) => {
  const rights = rightsToField(source, field);
  if (rights.length === 0) return json;
  return (row) => {
    const isSeen = allOf([...presence(source, row), ...rights.map((right) => readable.rightTo(right, row))]);
    const pieces = json(row);
    return sql`case when ${isSeen} then ${concatenated(Array.isArray(pieces) ? pieces : [pieces])} else 'null' end`;
  };
};

const memberOf = (
  options: Options,
  source: Source,
  member: Member,
): readonly (readonly [string, (row: Row) => Pieces])[] => {
  const { name, def, column, target } = member;
  if (def.kind === 'ref')
    return target ? [[idArgument(member), guarded(options, source, name, idOf(member))]] : [];
  const json = (row: Row): Pieces => jsonOf(member, sql`${row}.${Sql.identifier(column)}`);
  return [[name, guarded(options, source, name, json)]];
};

/** The id of a reference, also if its target is absent. */
const idOf =
  ({ column }: Pick<Member, 'column'>) =>
  (row: Row): Pieces =>
    orNull(concatenated(plainJson(sql`${row}.${Sql.identifier(column)}`)));

export const idsOf = (members: readonly Member[]): Mapping['values'] =>
  Object.fromEntries(
    members.flatMap((member) => (member.target ? [[idArgument(member), idOf(member)] as const] : [])),
  );

export const jsonOf = ({ def }: Pick<Member, 'def'>, value: Sql): Pieces => {
  const erased = def.personal?.erased;
  if (erased !== undefined) return textJson(sql`coalesce(${value}, ${literal(erased)})`);
  if (def.kind === 'choice' || def.kind === 'states')
    return def.optional ? orNull(concatenated(plainJson(value))) : plainJson(value);
  const json = leafJson(def.kind, value);
  return def.optional || def.personal ? orNull(json) : json;
};

const leafJson = (kind: Member['def']['kind'], value: Sql): Sql => {
  switch (kind) {
    case 'instant':
      return instantJson(value);
    case 'set':
      return sql`array_to_json(${value})::text`;
    case 'boolean':
      return booleanJson(value);
    case 'integer':
      return sql`${value}::text`;
    default:
      return textJson(value);
  }
};

const referencesOf = ({ readable, sources }: Options, { members }: Source): Mapping['rows'] =>
  Object.fromEntries(
    members.flatMap((member): readonly (readonly [string, Which])[] => {
      const { target, column, guard, showsEnded } = member;
      if (!target) return [];
      const isThere = (other: Row): readonly Sql[] =>
        showsEnded ? [] : presence(demandSource(sources, target.name), other);
      const which: Which = (other, row) => [
        allOf([
          sql`${other}.id = ${row}.${Sql.identifier(column)} and ${readable.rightTo(`${target.name}.read`, other)}`,
          ...isThere(other),
          ...(guard === undefined ? [] : [readable.rightTo(guard, row)]),
        ]),
      ];
      return [[memberName(member), which]];
    }),
  );

const childrenOf = (options: Options, { children }: Source): Mapping['rows'] =>
  Object.fromEntries(
    children.flatMap((child) => {
      const source = demandSource(options.sources, child.kind.name);
      const which: Which = (row, parent, args) =>
        matching(options, source, {
          row,
          args,
          under: { row: parent, reference: child.reference, column: child.column },
        });
      return [
        [listsOf(child.kind), which],
        [`${listsOf(child.kind)}Connection`, which],
      ];
    }),
  );

/** Readers of an aggregate may read the items of its lists, except those that need a right of their own. */
const itemsOf = ({ readable }: Options, { items }: Source): Mapping['rows'] =>
  Object.fromEntries(
    items.flatMap(({ list, of, part, filters, sorts }) => {
      const isSorted = ({ name }: (typeof sorts)[number], args: Arguments): boolean =>
        [true, false].some((descending) => orderName({ name }, descending) === args.choice('sort'));
      const isOfIt = (item: Row, row: Row): Sql => sql`${item}.${Sql.identifier(of)} = ${row}.id`;
      const which: Which = (item, row, args) => [
        allOf([
          isOfIt(item, row),
          ...(part === undefined
            ? []
            : [
                sql`(${readable.rightTo(part.right, row)} or (${readable.holds(part.of, part.kind, item)}) is not true)`,
              ]),
          ...filters
            .filter(({ name }) => args.has('filter', name))
            .map((filter) => filterSql(filter, item, args)),
          ...sorts
            .filter((sort) => sort.isPartial && isSorted(sort, args))
            .map(({ column }) => sql`${item}.${Sql.identifier(column)} is not null`),
        ]),
      ];
      return [
        [list.name, which],
        [`${list.name}Connection`, which],
      ];
    }),
  );

/** A row without its parent is about to be deleted with it. */
const isReadableUnder = ({ readable }: Options, { parent, right }: Source, row: Row): Sql => {
  if (!parent?.target) return sql`false`;
  const { name, table } = parent.target;
  // Some names of kinds are no valid aliases, but the names of their tables are.
  const above = Sql.identifier(/[A-Z]/.test(name) || RESERVED.has(name) ? table : name);
  const isReadable = readable.rightTo(right, row, { [parent.name]: above });
  return sql`exists (select from read_model.${Sql.identifier(table)} ${above} where ${above}.id = ${row}.${Sql.identifier(parent.column)} and ${isReadable})`;
};
