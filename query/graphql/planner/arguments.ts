import { type FieldNode, type GraphQLField, getArgumentValues, Kind, type ValueNode } from 'graphql';
import type { ArgumentValues, Parameter, Value } from './parameter.ts';
import { Sql } from './sql.ts';
import type { Variables } from './variables.ts';

/**
 * The arguments of one field, as a plan may use them: their shape decides the text of the statement, their
 * values are parameters.
 */
export type Arguments = {
  /** True if the argument, or a field of it, is present and not null. */
  has(...path: readonly string[]): boolean;
  /** The name of an enumeration’s value, in an argument or a field of it. */
  choice(...path: readonly string[]): string | undefined;
  /** A parameter computed from the values of each run. */
  value(
    type: Parameter['type'],
    read: (values: ArgumentValues) => Value,
    options?: Pick<Parameter, 'isDecisive' | 'isSearch'>,
  ): Sql;
};

export type FieldWithArguments = { readonly read: (variables: Variables) => ArgumentValues };

/**
 * Collects the fields with arguments, in the order in which `Inputs` has their values, and the parameters
 * made from them.
 */
export const keepArguments = (sample: Variables) => {
  const fields: FieldWithArguments[] = [];
  const parameters: Parameter[] = [];
  const argumentsOf = (field: GraphQLField<unknown, unknown>, node: FieldNode): Arguments => {
    const now = getArgumentValues(field, node, sample);
    const index = fields.length;
    const varies = node.arguments?.some(({ value }) => hasVariable(value)) === true;
    fields.push({ read: varies ? (variables) => getArgumentValues(field, node, variables) : () => now });
    return {
      has: (...path) => (at(now, path) ?? null) !== null,
      choice: (...path) => (at(now, path) ?? undefined) as string | undefined,
      value(type, read, options) {
        const parameter: Parameter = {
          ...options,
          type,
          read: ({ argumentValues }) => read(argumentValues[index] ?? {}),
        };
        parameters.push(parameter);
        return Sql.parameter(parameter);
      },
    };
  };
  return { fields, parameters, argumentsOf };
};

/** The value at a path; undefined if a part of the path is missing. */
export const at = (values: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | null | undefined)?.[name],
    values,
  );

const hasVariable = (value: ValueNode): boolean => {
  switch (value.kind) {
    case Kind.VARIABLE:
      return true;
    case Kind.LIST:
      return value.values.some(hasVariable);
    case Kind.OBJECT:
      return value.fields.some((field) => hasVariable(field.value));
    default:
      return false;
  }
};
