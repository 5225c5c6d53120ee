import { GraphQLError } from 'graphql';

/**
 * A service may report several errors for one field. graphql-tools combines them into one, which would be
 * masked.
 */
export const separateErrors = (error: GraphQLError): readonly GraphQLError[] => {
  const { originalError, nodes, path } = error;
  if (!(originalError instanceof AggregateError)) return [error];
  return originalError.errors.map((cause: unknown) =>
    cause instanceof GraphQLError
      ? new GraphQLError(cause.message, { nodes, path, extensions: cause.extensions })
      : new GraphQLError(error.message, { nodes, path, originalError: cause as Error }),
  );
};
