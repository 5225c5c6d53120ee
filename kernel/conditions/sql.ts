import { column, snake } from '../registry/names.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { always, type Expression, fieldsOfItem } from './expression.ts';
import type { Right } from './rights.ts';

/**
 * Makes pieces of a statement, in the form that the statement is made of: what it is given by others are
 * parameters.
 */
export type SqlWriter<Sql> = {
  sql(strings: TemplateStringsArray, ...holes: readonly Sql[]): Sql;
  /** A name of the declaration. */
  name(word: string): Sql;
  /** A value of the declaration, never of a caller. */
  constant(value: string | number | boolean): Sql;
  /** Of aggregates, or of the items of a list. */
  table(name: string): Sql;
  /** The id of the caller, null if nobody is signed in; read only where a condition asks for it. */
  readonly viewer: Sql;
  /**
   * The caller’s own value of a field of users, null if there is none; read only where a condition asks for
   * it.
   */
  attribute(name: string): Sql;
};

/**
 * The row that a condition is asked of, with those that the statement has joined to it already, by the names
 * of the references.
 */
export type Place<Sql> = {
  readonly domain: Domain;
  readonly kind: Kind;
  readonly row: Sql;
  readonly joined?: Readonly<Record<string, Sql>>;
};

/** The same as `holdsOf`, of rows. */
export const conditionSql = <Sql>(
  writer: SqlWriter<Sql>,
  expression: Expression,
  place: Place<Sql>,
  depth = 1,
): Sql => {
  const { sql, name, constant } = writer;
  const { kind, row } = place;
  const read = (each: Expression): Sql => conditionSql(writer, each, place, depth);
  const of = (field: string): Sql => sql`${row}.${name(column(field, kind.fields[field]))}`;
  switch (expression.op) {
    case 'const':
      return expression.value ? sql`true` : sql`false`;
    case 'and':
      return sql`(${joinedBy(writer, expression.of.map(read), sql` and `)})`;
    case 'or':
      return sql`(${joinedBy(writer, expression.of.map(read), sql` or `)})`;
    case 'not':
      // What is not known is not true.
      return sql`(${read(expression.of)}) is not true`;
    case 'is':
      return expression.value === null
        ? sql`${of(expression.field)} is null`
        : sql`${of(expression.field)} = ${constant(expression.value)}`;
    case 'min':
      return sql`${of(expression.field)} >= ${constant(expression.than)}`;
    case 'max':
      return sql`${of(expression.field)} <= ${constant(expression.than)}`;
    case 'caller':
      return sql`${of(expression.field)} = ${writer.viewer}`;
    case 'callers':
      return sql`${of(expression.field)} = ${writer.attribute(expression.attribute)}`;
    case 'at':
      return behindSql(writer, expression, place, depth);
    case 'some': {
      const item = name(`item_${depth}`);
      const list = kind.lists[expression.field];
      if (list === undefined) return sql`false`;
      const items = { ...kind, fields: fieldsOfItem(list) };
      const condition = conditionSql(
        writer,
        expression.of,
        { domain: place.domain, kind: items, row: item },
        depth + 1,
      );
      const table = writer.table(list.table);
      return sql`exists (select from ${table} ${item} where ${item}.${name(`${snake(kind.name)}_id`)} = ${row}.id and ${condition})`;
    }
  }
};

const behindSql = <Sql>(
  writer: SqlWriter<Sql>,
  { field, kind: target, of }: Extract<Expression, { op: 'at' }>,
  { domain, kind, row, joined }: Place<Sql>,
  depth: number,
): Sql => {
  const { sql, name } = writer;
  const found = domain.kinds[target];
  if (found === undefined) return sql`false`;
  const known = joined?.[field];
  if (known !== undefined) return conditionSql(writer, of, { domain, kind: found, row: known }, depth);
  const parent = name(`${snake(field)}_${depth}`);
  const condition = conditionSql(writer, of, { domain, kind: found, row: parent }, depth + 1);
  const id = name(column(field, kind.fields[field]));
  return sql`exists (select from ${writer.table(found.table)} ${parent} where ${parent}.id = ${row}.${id} and ${condition})`;
};

/** Whether the caller has a right under this condition; `always`, if under none. */
export type Granted<Sql> = (condition: Expression) => Sql;

/**
 * What a right leaves of the rows. What a caller is granted are parameters, so that one statement serves all
 * of them.
 */
export const rightSql = <Sql>(
  writer: SqlWriter<Sql>,
  right: Right,
  place: Place<Sql>,
  granted: Granted<Sql>,
): Sql => {
  const { sql } = writer;
  const alternatives = right.alternatives.map(
    (each) => sql`(${granted(each)} and ${conditionSql(writer, each, place)})`,
  );
  return sql`(${joinedBy(writer, [granted(always), ...alternatives], sql` or `)})`;
};

/** At least one. */
export const joinedBy = <Sql>(
  { sql }: SqlWriter<Sql>,
  [first, ...others]: readonly Sql[],
  separator: Sql,
): Sql => others.reduce((before, piece) => sql`${before}${separator}${piece}`, first ?? sql``);
