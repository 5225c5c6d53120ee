import {
  type GraphQLFieldConfigMap,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  getNullableType,
  isAbstractType,
  isIntrospectionType,
  isSpecifiedScalarType,
  OperationTypeNode,
  validateSchema,
} from 'graphql';

/** The schema of a service, whose root fields send requests to it. */
export type WrappedService = { readonly name: string; readonly schema: GraphQLSchema };

/** Services that cannot be merged; the message says what to do. */
export class SchemaConflict extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SchemaConflict';
  }
}

/**
 * Our schema with the queries and mutations of other services. Their root fields become nullable, because a
 * service may be down.
 */
export const mergeSchemas = (own: GraphQLSchema, services: readonly WrappedService[]): GraphQLSchema => {
  const all = [{ name: 'Annals', schema: own }, ...services];
  demandDistinct(
    'type',
    all.map(({ name, schema }) => ({ name, has: typesOf(schema).map((type) => type.name) })),
  );
  const roots = [OperationTypeNode.QUERY, OperationTypeNode.MUTATION].map((operation) =>
    mergeRoots(operation, own, services),
  );
  const [query, mutation] = roots;
  const merged = new GraphQLSchema({
    ...own.toConfig(),
    query,
    mutation,
    types: all.flatMap(({ schema }) => typesOf(schema)),
  });
  const [error] = validateSchema(merged);
  if (error) throw new SchemaConflict(`The composed schema is not valid: ${error.message}`);
  for (const { schema } of services)
    for (const type of typesOf(schema)) if (isAbstractType(type)) type.resolveType = typenameOf;
  return merged;
};

const typenameOf = (value: unknown): string | undefined =>
  (value as { readonly __typename?: string }).__typename;

/**
 * Names with an underscore are reserved, for example by federation, and meant for the service's own gateways.
 */
const isOwnName = (name: string): boolean => !name.startsWith('_');

const typesOf = (schema: GraphQLSchema): readonly GraphQLNamedType[] => {
  const roots: readonly unknown[] = Object.values(OperationTypeNode).map((operation) =>
    schema.getRootType(operation),
  );
  return Object.values(schema.getTypeMap()).filter(
    (type) =>
      !roots.includes(type) &&
      !isIntrospectionType(type) &&
      !isSpecifiedScalarType(type) &&
      isOwnName(type.name),
  );
};

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

const fieldsOf = (schema: GraphQLSchema, operation: OperationTypeNode): Fields =>
  schema.getRootType(operation)?.toConfig().fields ?? {};

const mergeRoots = (
  operation: OperationTypeNode,
  own: GraphQLSchema,
  services: readonly WrappedService[],
): GraphQLObjectType | undefined => {
  const ownFields = fieldsOf(own, operation);
  const others = services.map(({ name, schema }) => ({
    name,
    fields: Object.entries(fieldsOf(schema, operation))
      .filter(([field]) => isOwnName(field))
      .map(([field, config]) => [field, { ...config, type: getNullableType(config.type) }] as const),
  }));
  const named = others.map(({ name, fields }) => ({ name, has: fields.map(([field]) => field) }));
  demandDistinct(`${operation} field`, [{ name: 'Annals', has: Object.keys(ownFields) }, ...named]);
  const root = own.getRootType(operation);
  const fields: Fields = { ...ownFields, ...Object.fromEntries(others.flatMap((other) => other.fields)) };
  return root ? new GraphQLObjectType({ ...root.toConfig(), fields }) : undefined;
};

const demandDistinct = (
  kind: string,
  parts: readonly { readonly name: string; readonly has: readonly string[] }[],
): void => {
  const owners = new Map<string, string>();
  for (const { name, has } of parts) {
    const taken = has.filter((each) => owners.has(each));
    if (taken.length > 0)
      throw new SchemaConflict(
        `The service ${name} has the ${kind}${taken.length > 1 ? 's' : ''} ${taken.join(', ')}, which ${owners.get(taken[0] ?? '')} also has: ` +
          `give the service a "prefix" in the JSON file of GRAPHQL_COMPOSE, or rename the duplicates.`,
      );
    for (const each of has) owners.set(each, name);
  }
};
