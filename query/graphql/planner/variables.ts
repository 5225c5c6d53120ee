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

/**
 * The variables of an operation as they are after coercion, or undefined where one is not what it must be.
 */
export const variablesOf = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): Variables | undefined =>
  getVariableValues(schema, operation.variableDefinitions ?? [], given, ERRORS).variableValues;

/** Nobody reads them: the resolvers find them again, and say what they are. */
const ERRORS = { maxErrors: 1, hideSuggestions: true };

/**
 * What of the variables a statement's text may depend on: which are there, and what booleans and enumerations
 * among them are. Requests of one shape run by one plan.
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
