import { type DocumentNode, GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { bytesOfDocument } from '../documents/document-size.ts';
import { compile, type Plan } from './compile.ts';
import type { Mappings } from './mappings.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { shapeOf, type Variables } from './variables.ts';

/** About what a plan takes beside the text of its statement, and the document whose nodes it keeps. */
const BYTES_PER_PLAN = 2_000;
const CACHE_BYTES = 64 * 1024 * 1024;

export type FindPlan = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
) => Plan | undefined;

/**
 * Keeps the plans of all operations together, one for each shape of variables: a short document can have
 * many, and each of them long.
 */
export const createPlans = (
  schema: GraphQLSchema,
  mappings: Mappings,
  bytesMax: number = CACHE_BYTES,
): FindPlan => {
  const numbers = createNumbers();
  const plans = new LRUCache<string, { readonly plan: Plan | undefined; readonly bytes: number }>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  });
  return (document, operation, variables) => {
    const key = `${numbers(operation)} ${shapeOf(schema, operation, variables)}`;
    const known = plans.get(key);
    if (known) return known.plan;
    const plan = compileIfCovered({ schema, mappings, document, operation }, variables);
    const bytes =
      BYTES_PER_PLAN + key.length + (plan ? plan.text.length + bytesOfDocument(document.loc?.end ?? 0) : 0);
    plans.set(key, { plan, bytes });
    return plan;
  };
};

/** Tells operations from each other without keeping any. */
const createNumbers = (): ((operation: OperationDefinitionNode) => number) => {
  const numbers = new WeakMap<OperationDefinitionNode, number>();
  let last = 0;
  return (operation) => {
    const number = numbers.get(operation) ?? ++last;
    numbers.set(operation, number);
    return number;
  };
};

const compileIfCovered = (
  compiled: Parameters<typeof compile>[0],
  variables: Variables,
): Plan | undefined => {
  try {
    return compile(compiled, variables);
  } catch (error) {
    // The latter is a null where there may be none, given by a variable that has a default: the resolvers say
    // which field it fails.
    if (error instanceof OutOfPlan || error instanceof GraphQLError) return undefined;
    throw error;
  }
};
