import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  getVariableValues,
  isEnumType,
  isInputObjectType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';

export type Variables = Extract<
  ReturnType<typeof getVariableValues>,
  { variableValues: unknown }
>['variableValues'];

/** The variables of an operation after coercion; undefined if one is invalid. */
export const variablesOf = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): Variables | undefined =>
  getVariableValues(schema, operation.variableDefinitions ?? [], given, ERRORS).variableValues;

/** Only the number of errors matters: the resolvers find and report them again. */
const ERRORS = { maxErrors: 1, hideSuggestions: true };

/**
 * The part of the variables that the text of a statement may depend on: which are present, and the values of
 * booleans and enumerations. Requests of one shape share a plan.
 */
export const shapeOf = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  { coerced }: Variables,
): string => {
  const types =
    typesOf.get(operation) ?? (operation.variableDefinitions ?? []).map((each) => typeOf(schema, each));
  typesOf.set(operation, types);
  let text = '';
  for (const { name, type } of types) text += ` ${shape(coerced[name], type)}`;
  return text;
};

type Typed = { readonly name: string; readonly type: GraphQLInputType };

const typesOf = new WeakMap<OperationDefinitionNode, readonly Typed[]>();

const typeOf = (schema: GraphQLSchema, { variable, type }: VariableDefinitionNode): Typed => ({
  name: variable.name.value,
  type: typeFromAST(schema, type) as GraphQLInputType,
});

const shape = (value: unknown, type: GraphQLInputType): string => {
  if (value === undefined || value === null || typeof value === 'boolean') return String(value);
  const nullable = getNullableType(type);
  if (isEnumType(nullable)) return String(value);
  if (isInputObjectType(nullable)) {
    const fields = Object.entries(nullable.getFields()).map(([name, field]) =>
      shape((value as Record<string, unknown>)[name], field.type),
    );
    return `{${fields.join(' ')}}`;
  }
  return 'value';
};
