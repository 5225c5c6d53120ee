import { column, snake } from '../base/names.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { always, type Expression, fieldsOfItem } from './expression.ts';
import type { Right } from './rights.ts';

/**
 * Builds pieces of a statement in the representation that the caller uses; values from outside become
 * parameters.
 */
export type SqlWriter<Sql> = {
  sql(strings: TemplateStringsArray, ...holes: readonly Sql[]): Sql;
  /** An identifier from the declaration. */
  name(word: string): Sql;
  /** A constant from the declaration, never from a caller. */
  constant(value: string | number | boolean): Sql;
  /** A table of aggregates or of the items of a list. */
  table(name: string): Sql;
  /** The id of the caller, null if anonymous; read only if a condition asks for it. */
  readonly viewer: Sql;
  /** The caller’s own value of a field of users, null if missing; read only if a condition asks for it. */
  attribute(name: string): Sql;
};

/**
 * The row to which a condition applies, and the rows that the statement has already joined, by name of the
 * reference.
 */
export type ConditionedRow<Sql> = {
  readonly domain: Domain;
  readonly kind: Kind;
  readonly row: Sql;
  readonly joined?: Readonly<Record<string, Sql>>;
  /** The row whose reference leads here. */
  readonly outer?: ConditionedRow<Sql>;
};

/** Like `holdsOf`, as SQL on rows. */
export const conditionSql = <Sql>(
  writer: SqlWriter<Sql>,
  expression: Expression,
  at: ConditionedRow<Sql>,
  depth = 1,
): Sql => {
  const { sql, name, constant } = writer;
  const { kind, row } = at;
  const read = (each: Expression): Sql => conditionSql(writer, each, at, depth);
  const of = (field: string): Sql => sql`${row}.${name(column(field, kind.fields[field]))}`;
  /** Like `compare` in memory, whatever the collation of the database is. */
  const inOrder = (field: string): Sql =>
    kind.fields[field]?.kind === 'text' ? sql`${of(field)} collate "C"` : of(field);
  switch (expression.op) {
    case 'const':
      return expression.value ? sql`true` : sql`false`;
    case 'and':
      return sql`(${joinedBy(writer, expression.of.map(read), sql` and `)})`;
    case 'or':
      return sql`(${joinedBy(writer, expression.of.map(read), sql` or `)})`;
    case 'not':
      // Unknown is not true.
      return sql`(${read(expression.of)}) is not true`;
    case 'is':
      return expression.value === null
        ? sql`${of(expression.field)} is null`
        : sql`${of(expression.field)} = ${constant(expression.value)}`;
    case 'min':
      return sql`${inOrder(expression.field)} >= ${constant(expression.than)}`;
    case 'max':
      return sql`${inOrder(expression.field)} <= ${constant(expression.than)}`;
    case 'caller':
      return sql`${of(expression.field)} = ${writer.viewer}`;
    case 'callers':
      return sql`${of(expression.field)} = ${writer.attribute(expression.attribute)}`;
    case 'beside': {
      const { field, by, other, up } = expression;
      const above = rowAbove(at, up);
      if (above === undefined) return sql`false`;
      const than = sql`${above.row}.${name(column(other, above.kind.fields[other]))}`;
      if (by === 'is') return sql`${of(field)} = ${than}`;
      return by === 'min' ? sql`${inOrder(field)} >= ${than}` : sql`${inOrder(field)} <= ${than}`;
    }
    case 'at':
      return behindSql(writer, expression, at, depth);
    case 'some': {
      const item = name(`item_${depth}`);
      const list = kind.lists[expression.field];
      if (list === undefined) return sql`false`;
      const items = { ...kind, fields: fieldsOfItem(list) };
      const condition = conditionSql(
        writer,
        expression.of,
        { domain: at.domain, kind: items, row: item },
        depth + 1,
      );
      const table = writer.table(list.table);
      return sql`exists (select from ${table} ${item} where ${item}.${name(`${snake(kind.name)}_id`)} = ${row}.id and ${condition})`;
    }
  }
};

const rowAbove = <Sql>(at: ConditionedRow<Sql>, up: number): ConditionedRow<Sql> | undefined =>
  up === 0 ? at : at.outer && rowAbove(at.outer, up - 1);

const behindSql = <Sql>(
  writer: SqlWriter<Sql>,
  { field, kind: target, of }: Extract<Expression, { op: 'at' }>,
  outer: ConditionedRow<Sql>,
  depth: number,
): Sql => {
  const { sql, name } = writer;
  const { domain, kind, row, joined } = outer;
  const found = domain.kinds[target];
  if (found === undefined) return sql`false`;
  const known = joined?.[field];
  if (known !== undefined) return conditionSql(writer, of, { domain, kind: found, row: known, outer }, depth);
  const parent = name(`${snake(field)}_${depth}`);
  const condition = conditionSql(writer, of, { domain, kind: found, row: parent, outer }, depth + 1);
  const id = name(column(field, kind.fields[field]));
  return sql`exists (select from ${writer.table(found.table)} ${parent} where ${parent}.id = ${row}.${id} and ${condition})`;
};

/**
 * Returns SQL that is true if the caller has a right under this condition; `always` is the unconditional
 * right.
 */
export type Granted<Sql> = (condition: Expression) => Sql;

/**
 * SQL that selects the rows that a right allows. The granted conditions are parameters, so that one statement
 * serves all callers.
 */
export const rightSql = <Sql>(
  writer: SqlWriter<Sql>,
  right: Right,
  at: ConditionedRow<Sql>,
  granted: Granted<Sql>,
): Sql => {
  const { sql } = writer;
  const alternatives = right.alternatives.map(
    (each) => sql`(${granted(each)} and ${conditionSql(writer, each, at)})`,
  );
  return sql`(${joinedBy(writer, [granted(always), ...alternatives], sql` or `)})`;
};

/** Requires at least one piece. */
export const joinedBy = <Sql>(
  { sql }: SqlWriter<Sql>,
  [first, ...others]: readonly Sql[],
  separator: Sql,
): Sql => others.reduce((before, piece) => sql`${before}${separator}${piece}`, first ?? sql``);
