import type { Operation } from '#kernel/base/operation.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Expression } from '#kernel/conditions/expression.ts';
import { partsSql, type SqlPart } from '#kernel/conditions/parts.ts';
import type { Right } from '#kernel/conditions/rights.ts';
import { conditionSql, type Granted, rightSql, type SqlWriter } from '#kernel/conditions/sql.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { ownOf, type Policy, reachOf, userIdOf } from '#shared/policy.ts';
import type { Row } from './mapping.ts';
import { OutOfPlan } from './out-of-plan.ts';
import type { Parameter } from './parameter.ts';
import { literal, parameter, Sql, sql } from './sql.ts';

/**
 * The rows that a caller may read, as conditions. The rights are parameters, so one prepared statement serves
 * every caller.
 */
export type Readable = {
  /**
   * The condition that the caller has the right to a row. `joined` are the rows that references lead to, by
   * name.
   */
  rightTo(operation: Operation, row: Row, joined?: Readonly<Record<string, Row>>): Sql;
  /**
   * True if the caller has the right to any row at all. Otherwise nothing is planned, and the resolvers
   * refuse.
   */
  isAnywhere(operation: Operation): Sql;
  /** A condition on fields of the row alone. */
  holds(condition: Expression, kind: Kind, row: Row): Sql;
  /** The same as disjoint parts, each of one state. */
  partsOf(operation: Operation, row: Row, joined: Readonly<Record<string, Row>>): readonly SqlPart<Sql>[];
};

/** Null for callers who own nothing. */
export const viewerId: Sql = parameter('bigint', ({ caller }) => userIdOf(caller));

/** Each parameter is created once, because parameters are compared by identity. */
const writerOf = (domain: Domain): SqlWriter<Sql> => {
  const attributes = new Map(
    attributesOf(domain).map(({ name, def }) => [
      name,
      parameter(def.column as Parameter['type'], ({ caller }) => ownOf(caller)?.[name] ?? null),
    ]),
  );
  return { ...WRITER, attribute: (name) => attributes.get(name) ?? WRITER.attribute(name) };
};

const WRITER: SqlWriter<Sql> = {
  sql,
  name: Sql.identifier,
  constant: (value) => {
    if (typeof value === 'boolean') return value ? sql`true` : sql`false`;
    return typeof value === 'string' ? literal(value) : Sql.number(Number(value));
  },
  table: (name) => sql`read_model.${Sql.identifier(name)}`,
  viewer: viewerId,
  attribute(name) {
    throw new RangeError(`No condition compares the caller’s ${name}`);
  },
};

export const readableOf = (policy: Policy): Readable => {
  const rightOf = (operation: Operation): { readonly right: Right; readonly kind: Kind } => {
    const right = policy.rights.get(operation);
    if (right?.kind === undefined) throw new RangeError(`${operation} is not a right to an aggregate`);
    return { right, kind: right.kind };
  };
  const isGranted = createGrants();
  const { domain } = policy;
  const writer = writerOf(domain);
  return {
    rightTo(operation, row, joined = {}) {
      const { right, kind } = rightOf(operation);
      return rightSql(writer, right, { domain, kind, row, joined }, isGranted(operation));
    },
    isAnywhere: createAnywhere(),
    holds: (condition, kind, row) => conditionSql(writer, condition, { domain, kind, row }),
    partsOf(operation, row, joined) {
      const { right, kind } = rightOf(operation);
      return partsSql(writer, right, { domain, kind, row, joined }, isGranted(operation));
    },
  };
};

const createAnywhere = (): Readable['isAnywhere'] => {
  const parameters = new Map<Operation, Parameter>();
  return (operation) => {
    const known = parameters.get(operation) ?? {
      type: 'boolean',
      read: ({ caller }) => {
        if (reachOf(caller, operation).size > 0) return true;
        throw new OutOfPlan('what the caller may read of none');
      },
    };
    parameters.set(operation, known);
    return Sql.parameter(known);
  };
};

/** Each parameter is created once, because parameters are compared by identity. */
const createGrants = (): ((operation: Operation) => Granted<Sql>) => {
  const parameters = new Map<Operation, Map<Expression, Parameter>>();
  return (operation) => {
    const known = parameters.get(operation) ?? new Map<Expression, Parameter>();
    parameters.set(operation, known);
    return (condition) => {
      const granted = known.get(condition) ?? {
        type: 'boolean',
        read: ({ caller }) => reachOf(caller, operation).has(condition),
      };
      known.set(condition, granted);
      return Sql.parameter(granted);
    };
  };
};
